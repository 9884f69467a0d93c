/* Programs that watch over themselves: what they see is the same as by itself. The argument names one. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <unwind.h>
#endif

#define PAGE 4096UL
enum { ROUNDS = 40 };

static void pause_for(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Serves faults of pages in which the times of waits are, and waits itself meanwhile. */
static void *serve(void *of) {
    static char page[PAGE] __attribute__((aligned(4096)));
    struct timespec time = {0, 1000000};
    int faults = *(int *)of;
    memcpy(page, &time, sizeof time);
    for (;;) {
        struct pollfd one = {faults, POLLIN, 0};
        struct uffd_msg fault;
        poll(&one, 1, 300);
        if (read(faults, &fault, sizeof fault) != sizeof fault) continue;
        pause_for(2);
        struct uffdio_copy copy = {.dst = fault.arg.pagefault.address & ~(PAGE - 1), .src = (unsigned long)page, .len = PAGE};
        ioctl(faults, UFFDIO_COPY, &copy);
    }
    return NULL;
}

static void faults(void) {
    int own = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK), failed = 0, number;
    struct uffdio_api api = {.api = UFFD_API};
    pthread_t thread;
    if (own < 0 || ioctl(own, UFFDIO_API, &api) != 0) {
        printf("no faults of its own\n");
        return;
    }
    char *pages = mmap(NULL, 2 * ROUNDS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register all = {{(unsigned long)pages, 2 * ROUNDS * PAGE}, UFFDIO_REGISTER_MODE_MISSING, 0};
    ioctl(own, UFFDIO_REGISTER, &all);
    pthread_create(&thread, NULL, serve, &own);
    sigset_t none;
    sigemptyset(&none);
    for (number = 0; number < ROUNDS; number++) {
        failed += syscall(SYS_nanosleep, pages + 2 * number * PAGE, NULL) != 0;
        failed += syscall(SYS_rt_sigtimedwait, &none, NULL, pages + (2 * number + 1) * PAGE, 8) != -1 || errno != EAGAIN;
    }
    printf("%d failed\n", failed);
}

/* Decides about each file that is opened or executed, and waits itself meanwhile. */
static void files(void) {
    mkdir("m", 0755);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mount("x", "m", "tmpfs", 0, "") != 0
        || system("cp /bin/true m/true; cp /bin/sleep m/sleep") != 0) {
        printf("no place of its own\n");
        return;
    }
    int own = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY), status = -1, waits;
    if (own < 0 || fanotify_mark(own, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_OPEN_PERM | FAN_ACCESS_PERM, AT_FDCWD, "m") != 0) {
        printf("no decisions\n");
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        for (waits = 0; waits < 5; waits++) {
            pid_t one = fork();
            if (one == 0 && waits % 2) execl("m/true", "true", (char *)NULL);
            if (one == 0) execl("m/sleep", "sleep", "0.01", (char *)NULL);
            waitpid(one, &status, 0);
            if (status != 0) _exit(1);
        }
        _exit(0);
    }
    for (waits = 0; waits < 400 && waitpid(child, &status, WNOHANG) == 0; waits++) {
        struct pollfd one = {own, POLLIN, 0};
        char buffer[4096];
        poll(&one, 1, 50);
        ssize_t length = read(own, buffer, sizeof buffer);
        struct fanotify_event_metadata *event = (void *)buffer;
        for (; length > 0 && FAN_EVENT_OK(event, length); event = FAN_EVENT_NEXT(event, length)) {
            struct fanotify_response answer = {event->fd, FAN_ALLOW};
            write(own, &answer, sizeof answer);
            close(event->fd);
        }
    }
    printf("ended with %d\n", status);
}

static int filter(int call, unsigned what) {
    struct sock_filter steps[] = {{0x20, 0, 0, 0}, {0x15, 0, 1, call}, {6, 0, 0, what}, {6, 0, 0, SECCOMP_RET_ALLOW}};
    struct sock_fprog program = {4, steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) | syscall(SYS_seccomp, 1, 0, &program);
}

static void answers(int signal, siginfo_t *info, void *context) {
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = info->si_syscall + 1000;
    (void)signal;
}

/* Filters of its own, of each kind. */
static void filters(void) {
    struct sigaction action = {.sa_sigaction = answers, .sa_flags = SA_SIGINFO};
    struct timespec time = {0, 1000000};
    sigaction(SIGSYS, &action, NULL);
    for (unsigned told = 0; told < 3; told++) {
        int call = (int[]){SYS_getppid, SYS_nanosleep, SYS_rt_sigtimedwait}[told];
        printf("%d ", filter(call, SECCOMP_RET_TRACE | (told ? told * 7 : 0)));
        sigset_t none;
        sigemptyset(&none);
        errno = 0;
        long result = told == 2 ? syscall(call, &none, NULL, &time, 8) : syscall(call, &time, NULL);
        printf("%d: %ld %d\n", call, result, errno);
    }
    printf("%d ", filter(SYS_clock_nanosleep, SECCOMP_RET_TRAP));
    printf("%ld\n", syscall(SYS_clock_nanosleep, 1, 0, &time, NULL));
    printf("%d ", filter(SYS_poll, SECCOMP_RET_ERRNO | 33));
    long result = syscall(SYS_poll, NULL, 0, 2);
    printf("%ld %d\n", result, errno);
}

static volatile char is_sent;

static void handles(int signal, siginfo_t *info, void *context) {
    is_sent = 0;
    answers(signal, info, context);
}

/* Its calls are sent to a handler of its own. */
static void dispatch(void) {
    struct sigaction action = {.sa_sigaction = handles, .sa_flags = SA_SIGINFO};
    struct timespec time = {0, 1000000};
    int wrong = 0, number;
    sigaction(SIGSYS, &action, NULL);
    int is_there = prctl(59, 1, 0, 0, &is_sent) == 0;
    for (number = 0; number < ROUNDS; number++) wrong += syscall(SYS_nanosleep, &time, NULL) != 0;
    for (number = 0; number < ROUNDS && is_there; number++) {
        is_sent = 1;
        wrong += syscall(SYS_nanosleep, &time, NULL) != SYS_nanosleep + 1000;
        is_sent = 0;
    }
    printf("%d wrong\n", wrong);
}

static long with_stack(unsigned long stack, long call, long a, long b, long c) {
    long result;
    register long d __asm__("r10") = 0;
    __asm__ volatile("mov %%rsp, %%r15\n mov %6, %%rsp\n syscall\n mov %%r15, %%rsp"
                     : "=a"(result)
                     : "a"(call), "D"(a), "S"(b), "d"(c), "r"(d), "r"(stack)
                     : "rcx", "r11", "r15", "memory");
    return result;
}

/* A system call needs no stack. */
static void stack(void) {
    struct timespec time = {0, 1000000};
    char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long stacks[] = {0, 16, 0x7fffffffffffUL, (unsigned long)page + PAGE + 64, (unsigned long)page};
    int word = 0, wrong = 0, number;
    mprotect(page, PAGE, PROT_NONE);
    for (number = 0; number < ROUNDS; number++) {
        unsigned long at = stacks[number % 5];
        wrong += with_stack(at, SYS_nanosleep, (long)&time, 0, 0) != 0;
        wrong += with_stack(at, SYS_poll, 0, 0, 2) != 0;
        wrong += with_stack(at, SYS_futex, (long)&word, 0, 1) != -EAGAIN;
    }
    printf("%d wrong\n", wrong);
}

static volatile int seen;

static void once(int kind);

#ifdef __GLIBC__
static _Unwind_Reason_Code looks(struct _Unwind_Context *at, void *own) {
    unsigned long place = _Unwind_GetIP(at), function = (unsigned long)own;
    seen |= place > function && place < function + 200;
    return _URC_NO_REASON;
}

static void sees(int signal, siginfo_t *info, void *context) {
    _Unwind_Backtrace(looks, once);
}
#else
/* What unwinds stacks needs glibc. */
static void sees(int signal, siginfo_t *info, void *context) {
    extern char __executable_start, etext;
    char *place = (char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    seen = place >= &__executable_start && place < &etext;
}
#endif

static long without_library(long call, long a, long b, long c, long of) {
    long result;
    register long d __asm__("r10") = of;
    __asm__ volatile("syscall" : "=a"(result) : "a"(call), "D"(a), "S"(b), "d"(c), "r"(d) : "rcx", "r11", "memory");
    return result;
}

static int epoll;

__attribute__((noinline)) static void waits(int kind) {
    struct timespec time = {3, 0};
    struct timeval span = {3, 0};
    sigset_t none;
    int word = 0;
    sigemptyset(&none);
    switch (kind) {
    case 0: nanosleep(&time, NULL); break;
    case 1: poll(NULL, 0, 3000); break;
    case 2: select(0, NULL, NULL, NULL, &span); break;
    case 3: syscall(SYS_futex, &word, 0, 0, &time); break;
    case 4: without_library(SYS_nanosleep, (long)&time, 0, 0, 0); break;
    case 5: without_library(SYS_clock_nanosleep, 1, 0, (long)&time, 0); break;
    case 6: without_library(SYS_ppoll, 0, 0, (long)&time, 0); break;
    case 7: without_library(SYS_rt_sigtimedwait, (long)&none, 0, (long)&time, 8); break;
    case 8: without_library(SYS_epoll_wait, epoll, (long)&none, 1, 3000); break;
    case 9: without_library(SYS_futex, (long)&word, 0, 0, (long)&time); break;
    }
}

__attribute__((noinline)) static void once(int kind) {
    waits(kind);
    __asm__ volatile("" ::: "memory");
}

/* A handler sees the callers of each wait that it interrupts, unless a busy machine stops the thread while the injected code
   reads a clock. */
static void callers(void) {
    int kind, number;
    struct sigaction action = {.sa_sigaction = sees, .sa_flags = SA_SIGINFO};
    struct itimerval soon = {{0, 0}, {0, 4000}}, never = {{0, 0}, {0, 0}};
    epoll = epoll_create1(0);
    sigaction(SIGALRM, &action, NULL);
    for (kind = 0; kind < 10; kind++) {
        int all = 0;
        for (number = 0; number < ROUNDS / 2; number++) {
            seen = 0;
            setitimer(ITIMER_REAL, &soon, NULL);
            once(kind);
            setitimer(ITIMER_REAL, &never, NULL);
            all += seen;
        }
        printf("%d: %d\n", kind, all >= ROUNDS / 2 - 2);
    }
}

int main(int count, char **words) {
    struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"faults", faults}, {"files", files}, {"filters", filters}, {"dispatch", dispatch}, {"stack", stack}, {"callers", callers}};
    for (int number = 0; number < 6; number++)
        if (count > 1 && strcmp(words[1], all[number].name) == 0) all[number].run();
    fflush(stdout);
    _exit(0);
}
