/* Every timed call with every kind of argument and signal: a line each, which has no times, so that it is the same wherever
   the program runs right. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef const struct timespec *Time;
static int word, watches, semaphore_set, pair[2], message[2];
static unsigned long context;
static sem_t semaphore;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sigset_t awaited;
static volatile sig_atomic_t got;
static volatile int *sent;
static char *half;

static long long now(int clock) {
    struct timespec time;
    syscall(SYS_clock_gettime, clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}
static struct timespec of(long long ns) { return (struct timespec){ ns / 1000000000, ns % 1000000000 }; }
static long error(int code) { return code ? (errno = code, -1) : 0; }
static int is_there(const void *place) {
    return (long)place >= 4096 && ((char *)place < half || (char *)place >= half + 8192);
}
static int is_time(Time span) {
    return is_there(span) && span->tv_sec >= 0 && span->tv_nsec >= 0 && span->tv_nsec <= 999999999;
}
/* A span as a deadline, unless it is no span. */
static struct timespec deadline;
static Time until(int clock, Time span) {
    if (!is_time(span)) return span;
    deadline = of(now(clock) + span->tv_sec * 1000000000LL + span->tv_nsec);
    return &deadline;
}

#define CALL(name, body) static long name(Time t, void *rest) { return body; }
CALL(sleeps, syscall(SYS_nanosleep, t, rest))
CALL(sleeps_on, syscall(SYS_clock_nanosleep, 1, 0, t, rest))
CALL(sleeps_on_real, syscall(SYS_clock_nanosleep, 0, 0, t, rest))
CALL(sleeps_until, syscall(SYS_clock_nanosleep, 1, 1, until(1, t), rest))
CALL(sleeps_until_real, syscall(SYS_clock_nanosleep, 0, 1, until(0, t), rest))
CALL(sleeps_until_boot, syscall(SYS_clock_nanosleep, 7, 1, until(7, t), rest))
CALL(sleeps_on_cpu_time, syscall(SYS_clock_nanosleep, 3, 0, t, rest))
CALL(sleeps_on_none, syscall(SYS_clock_nanosleep, 99, 0, t, rest))
CALL(library_sleeps, nanosleep(t, rest))
CALL(library_sleeps_until, error(clock_nanosleep(1, 1, until(1, t), 0)))
CALL(library_sleeps_on_cpu_time, error(clock_nanosleep(3, 0, t, 0)))
CALL(polls, syscall(SYS_ppoll, 0, 0, t, 0, 8))
CALL(polls_mask, syscall(SYS_ppoll, 0, 0, t, 8, 8))
CALL(polls_one, syscall(SYS_ppoll, 8, 1, t, 0, 8))
CALL(selects, syscall(SYS_pselect6, 0, 0, 0, 0, t, 0))
CALL(selects_too_many, syscall(SYS_pselect6, -1, 0, 0, 0, t, 0))
CALL(selects_of, syscall(SYS_pselect6, 4, 8, 0, 0, t, 0))
CALL(waits_for_events, syscall(441, watches, (char[64]){ 0 }, 1, t, 0, 8))
CALL(waits_for_no_events, syscall(441, watches, (char[64]){ 0 }, 0, t, 0, 8))
CALL(waits_for_events_of_none, syscall(441, -1, (char[64]){ 0 }, 1, t, 0, 8))
CALL(futex, syscall(SYS_futex, &word, FUTEX_WAIT, 0, t, 0, 0))
CALL(futex_private, syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, t, 0, 0))
CALL(futex_other_value, syscall(SYS_futex, &word, FUTEX_WAIT, 1, t, 0, 0))
CALL(futex_unaligned, syscall(SYS_futex, (char *)&word + 1, FUTEX_WAIT, 0, t, 0, 0))
CALL(futex_nowhere, syscall(SYS_futex, 8, FUTEX_WAIT, 0, t, 0, 0))
CALL(futex_until, syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, until(1, t), 0, -1))
CALL(futex_until_real, syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, until(0, t), 0, -1))
CALL(futex_no_bits, syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, until(1, t), 0, 0))
CALL(awaits, syscall(SYS_rt_sigtimedwait, &awaited, 0, t, 8))
CALL(awaits_none, syscall(SYS_rt_sigtimedwait, 8, 0, t, 8))
CALL(awaits_size, syscall(SYS_rt_sigtimedwait, &awaited, 0, t, 7))
static struct sembuf takes = { 0, -1, 0 };
CALL(takes_a_semaphore, syscall(SYS_semtimedop, semaphore_set, &takes, 1, t))
CALL(takes_none, syscall(SYS_semtimedop, semaphore_set, 8, 1, t))
CALL(takes_no_semaphore, syscall(SYS_semtimedop, -1, &takes, 1, t))
/* Without a valid time it waits for ever. */
CALL(gets_events, is_there(t) && !is_time(t) ? 0 : syscall(SYS_io_getevents, context, 1, 1, (char[64]){ 0 }, t))
CALL(gets_events_of_none, syscall(SYS_io_getevents, 8, 1, 1, 0, t))
CALL(receives, syscall(SYS_mq_timedreceive, message[0], (char[8]){ 0 }, 8, 0, until(0, t)))
CALL(receives_little, syscall(SYS_mq_timedreceive, message[0], (char[8]){ 0 }, 4, 0, until(0, t)))
CALL(sends, syscall(SYS_mq_timedsend, message[1], "x", 1, 0, until(0, t)))
CALL(receives_of_none, syscall(SYS_mq_timedreceive, -1, (char[8]){ 0 }, 8, 0, until(0, t)))
CALL(receives_many, syscall(SYS_recvmmsg, -1, 0, 1, 0, t))
/* These read the time themselves, and one C library waits for ever without a valid one. */
CALL(of_the_library, !is_time(t) ? 0 : sem_timedwait(&semaphore, until(0, t)))

/* What takes another form of time, and makes it of these. */
static int in_ms(Time t) { return is_time(t) ? t->tv_sec * 1000 + t->tv_nsec / 1000000 : 0; }
CALL(polls_ms, syscall(SYS_poll, 0, 0, in_ms(t)))
CALL(waits_ms, syscall(SYS_epoll_wait, watches, (char[64]){ 0 }, 1, in_ms(t)))
CALL(waits_ms_masked, syscall(SYS_epoll_pwait, watches, (char[64]){ 0 }, 1, in_ms(t), 0, 8))
static long selects_us(Time t, void *rest) {
    if (!is_time(t)) return is_there(t) ? 0 : syscall(SYS_select, 0, 0, 0, 0, t);
    struct timeval span = { t->tv_sec, t->tv_nsec / 1000 };
    long answer = syscall(SYS_select, 0, 0, 0, 0, &span), failed = errno;
    if (is_there(rest)) *(struct timespec *)rest = (struct timespec){ span.tv_sec, span.tv_usec * 1000L };
    return errno = failed, answer;
}
/* With this personality, the time that was passed stays as it is. */
static long sticks(Time t, void *rest) {
    if (!is_time(t)) return 0;
    struct timeval us = { t->tv_sec, t->tv_nsec / 1000 }, before = us;
    struct timespec times[] = { *t, *t };
    personality(STICKY_TIMEOUTS);
    select(0, 0, 0, 0, &us);
    syscall(SYS_pselect6, 0, 0, 0, 0, &times[0], 0);
    syscall(SYS_ppoll, 0, 0, &times[1], 0, 8);
    personality(0);
    return !memcmp(&us, &before, sizeof us) && !memcmp(&times[0], t, 16) && !memcmp(&times[1], t, 16);
}
static long condition(Time t, void *rest) {
    if (!is_time(t)) return 0;
    pthread_mutex_lock(&held);
    int failed = pthread_cond_timedwait(&never, &held, until(0, t));
    pthread_mutex_unlock(&held);
    return error(failed);
}
static long socket_receives(Time t, void *rest) {
    if (!is_there(t)) return setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, t, 16);
    struct timeval span = { t->tv_sec, t->tv_nsec / 1000 };
    char byte;
    if (t->tv_sec >= 0 && span.tv_sec <= 0 && span.tv_usec <= 0) return 0;
    if (setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &span, sizeof span)) return -1;
    return recv(pair[0], &byte, 1, 0);
}

#define ROW(name) { #name, name }
static const struct { const char *name; long (*call)(Time, void *); } CALLS[] = {
    ROW(sleeps), ROW(sleeps_on), ROW(sleeps_on_real), ROW(sleeps_until), ROW(sleeps_until_real), ROW(sleeps_until_boot),
    ROW(sleeps_on_cpu_time), ROW(sleeps_on_none), ROW(library_sleeps), ROW(library_sleeps_until), ROW(library_sleeps_on_cpu_time),
    ROW(polls), ROW(polls_mask), ROW(polls_one),
    ROW(selects), ROW(selects_too_many), ROW(selects_of), ROW(waits_for_events), ROW(waits_for_no_events), ROW(waits_for_events_of_none),
    ROW(futex), ROW(futex_private), ROW(futex_other_value), ROW(futex_unaligned), ROW(futex_nowhere), ROW(futex_until),
    ROW(futex_until_real), ROW(futex_no_bits), ROW(awaits), ROW(awaits_none), ROW(awaits_size), ROW(takes_a_semaphore), ROW(takes_none),
    ROW(takes_no_semaphore), ROW(gets_events), ROW(gets_events_of_none), ROW(receives), ROW(receives_little), ROW(sends), ROW(receives_of_none),
    ROW(receives_many), ROW(of_the_library), ROW(polls_ms), ROW(waits_ms), ROW(waits_ms_masked), ROW(selects_us), ROW(condition),
    ROW(socket_receives), ROW(sticks),
};
/* Calls that need what they await never get here without it, and last for as long as they are told. */
static int lasts(unsigned at) {
    static const char *const LAST[] = { "sleeps", "sleeps_on", "sleeps_on_real", "sleeps_until", "sleeps_until_real", "sleeps_until_boot",
        "library_sleeps", "library_sleeps_until", "polls", "selects", "waits_for_events", "futex", "futex_private", "futex_until", "futex_until_real",
        "awaits", "takes_a_semaphore", "gets_events", "receives", "sends", "of_the_library", "polls_ms", "waits_ms", "waits_ms_masked", "selects_us" };
    for (unsigned i = 0; i < sizeof LAST / sizeof *LAST; i++)
        if (!strcmp(LAST[i], CALLS[at].name)) return 1;
    return 0;
}

static void caught(int signal) { got++; }
static void say(unsigned at, const char *how, long answer, int failed, const char *more) {
    printf("%s, %s: %ld %s%s\n", CALLS[at].name, how, answer, answer == -1 ? strerror(failed) : "", more);
}

static void arguments(unsigned at) {
    struct timespec times[] = { { 0, 0 }, { 0, 1 }, { 0, 1000000 }, { -1, 0 }, { 0, -1 }, { 0, 1000000000 }, { LONG_MIN, 0 }, { 0, LONG_MIN }, { 0, LONG_MAX } };
    struct { const char *name; const void *place; } places[] = {
        { "0", &times[0] }, { "1 ns", &times[1] }, { "1 ms", &times[2] }, { "-1 s", &times[3] }, { "-1 ns", &times[4] }, { "1e9 ns", &times[5] },
        { "least s", &times[6] }, { "least ns", &times[7] }, { "most ns", &times[8] }, { "nowhere", (void *)8 },
        { "in the kernel", (void *)-4096L }, { "half", half + 4096 - 8 } };
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        errno = 0;
        long long begun = now(1);
        long answer = CALLS[at].call(places[i].place, 0);
        int failed = errno, is_early = i == 2 && lasts(at) && now(1) - begun < 1000000;
        say(at, places[i].name, answer, failed, is_early ? ", early" : "");
    }
}

/* Signals come every 2 ms, from another process. */
static void signals(unsigned at) {
    static const struct { const char *name; int signal, flags, ms; } HOW[] = {
        { "handler", SIGUSR1, 0, 86400000 }, { "handler that restarts", SIGUSR1, SA_RESTART, 60 }, { "child's end", SIGCHLD, -1, 60 },
        { "window", SIGWINCH, -1, 60 }, { "ignored", SIGUSR1, -2, 60 },
    };
    if (!lasts(at)) return;
    for (unsigned i = 0; i < sizeof HOW / sizeof *HOW; i++) {
        struct sigaction action = { .sa_handler = HOW[i].flags >= 0 ? caught : HOW[i].flags == -1 ? SIG_DFL : SIG_IGN,
            .sa_flags = HOW[i].flags > 0 ? HOW[i].flags : 0 };
        sigaction(HOW[i].signal, &action, 0);
        pid_t parent = getpid(), child = fork();
        while (!child) { usleep(2000); if (kill(parent, HOW[i].signal)) _exit(0); ++*sent; }
        struct timespec span, rest;
        long answer;
        int before, failed;
        long long begun;
        do {
            rest = (struct timespec){ -7, -7 };
            span = of(HOW[i].ms * 1000000LL);
            before = *sent, got = errno = 0, begun = now(1);
            answer = CALLS[at].call(&span, &rest);
            failed = errno;
            /* Once more, if the signals didn't come within it. */
        } while (!(answer == -1 && failed == EINTR) && (HOW[i].flags >= 0 ? got : *sent - before) < 4);
        int has_ended = !(answer == -1 && failed == EINTR), is_early = has_ended && now(1) - begun < HOW[i].ms * 1000000LL;
        int has_rest = answer == -1 && rest.tv_sec != -7, is_more = has_rest && rest.tv_sec * 1000000000LL + rest.tv_nsec > HOW[i].ms * 1000000LL;
        char more[80];
        snprintf(more, sizeof more, "%s%s%s", is_early ? ", early" : "", has_rest ? ", a rest" : "", is_more ? " of more" : "");
        say(at, HOW[i].name, answer, failed, more);
        if (!i) {
            /* A place for the rest that can't be written. */
            answer = CALLS[at].call(&span, half + 4096), failed = errno;
            say(at, "handler, rest nowhere", answer, failed, "");
        }
        kill(child, SIGKILL);
        waitpid(child, 0, 0);
        signal(HOW[i].signal, SIG_DFL);
    }
}

/* What is left of a timer is something, and at most what was requested; the interval is the requested one. */
static void shows(const char *how, long answer, int failed, struct itimerspec seen, long long span) {
    long long rest = seen.it_value.tv_sec * 1000000000LL + seen.it_value.tv_nsec;
    printf("%s: %ld %s, %s, every %ld ns\n", how, answer, answer == -1 ? strerror(failed) : "", rest > span ? "more" : rest > 0 ? "a rest" : "none",
        (long)seen.it_interval.tv_nsec);
}
enum { INTERVAL, CREATED, FILE_TIMER };
static timer_t created;
static int timer_file;
static long set_timer(int kind, int flags, long long value, long long interval, struct itimerspec *old) {
    struct itimerspec new = { of(interval), of(value) };
    if (kind == CREATED) return timer_settime(created, flags, &new, old);
    if (kind == FILE_TIMER) return timerfd_settime(timer_file, flags, &new, old);
    struct itimerval us = { { 0, interval / 1000 }, { value / 1000000000, value / 1000 % 1000000 } }, before;
    if ((long)old == 8) return syscall(SYS_setitimer, 0, &us, old);
    long answer = syscall(SYS_setitimer, 0, &us, old ? &before : 0);
    if (old && !answer) *old = (struct itimerspec){ { before.it_interval.tv_sec, before.it_interval.tv_usec * 1000 }, { before.it_value.tv_sec, before.it_value.tv_usec * 1000 } };
    return answer;
}
static long read_timer(int kind, struct itimerspec *seen) {
    if (kind == CREATED) return timer_gettime(created, seen);
    if (kind == FILE_TIMER) return timerfd_gettime(timer_file, seen);
    struct itimerval us;
    long answer = getitimer(0, &us);
    *seen = (struct itimerspec){ { us.it_interval.tv_sec, us.it_interval.tv_usec * 1000 }, { us.it_value.tv_sec, us.it_value.tv_usec * 1000 } };
    return answer;
}
static void timers(void) {
    static const char *const KINDS[] = { "setitimer", "timer_create", "timerfd" };
    struct sigevent none = { .sigev_notify = SIGEV_NONE };
    struct itimerspec seen;
    long answer;
    signal(SIGALRM, caught);
    timer_create(1, &none, &created);
    timer_file = timerfd_create(1, 0);
    for (int kind = INTERVAL; kind <= FILE_TIMER; kind++) {
        puts(KINDS[kind]);
        answer = set_timer(kind, 0, 1000000, 20000000, 0);
        read_timer(kind, &seen), shows("set", answer, errno, seen, 20000000);
        long long end = now(1) + 50000000;
        do usleep(1000); while (now(1) < end);
        read_timer(kind, &seen), shows("within an interval", 0, 0, seen, 20000000);
        answer = set_timer(kind, 0, 9000000000, 7000000, &seen), shows("set anew", answer, errno, seen, 20000000);
        answer = set_timer(kind, 0, 9000000000, 0, (void *)8), shows("old one nowhere", answer, errno, seen, 20000000);
        set_timer(kind, 0, 9000000000, 7000000, 0);
        if (!fork()) { read_timer(kind, &seen), shows("in a child", 0, 0, seen, 9000000000); _exit(0); }
        wait(0);
        answer = set_timer(kind, 0, 9000000000, 1000000000000, &seen), shows("bad interval", answer, errno, seen, 9000000000);
        answer = set_timer(kind, 0, 0, 0, &seen), shows("disarmed", answer, errno, seen, 9000000000);
        answer = read_timer(kind, &seen), shows("read", answer, errno, seen, 0);
        if (kind) answer = set_timer(kind, 1, now(1) + 9000000000, 0, 0), read_timer(kind, &seen), shows("until", answer, errno, seen, 9000000000);
    }
    alarm(1), printf("alarm: %u %u\n", alarm(5), alarm(0));
}

int main(int count, char **typed) {
    setvbuf(stdout, 0, _IOLBF, 0);
    half = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(half + 4096, 4096, PROT_NONE);
    sent = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    watches = epoll_create1(0);
    semaphore_set = semget(IPC_PRIVATE, 1, 0600);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    syscall(SYS_io_setup, 1, &context);
    sem_init(&semaphore, 0, 0);
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGUSR2);
    sigprocmask(SIG_BLOCK, &awaited, 0);
    for (int i = 0; i < 2; i++) {
        struct mq_attr attributes = { 0, 1, 8, 0 };
        char name[64];
        snprintf(name, sizeof name, "/timed-%d-%d", getpid(), i);
        message[i] = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
        mq_unlink(name);
    }
    syscall(SYS_mq_timedsend, message[1], "x", 1, 0, 0);
    if (typed[1][0] == 't') timers();
    else for (unsigned at = 0; at < sizeof CALLS / sizeof *CALLS; at++) {
        if (count > 2 && strcmp(typed[2], CALLS[at].name)) continue;
        (typed[1][0] == 'a' ? arguments : signals)(at);
    }
    semctl(semaphore_set, 0, IPC_RMID);
}
