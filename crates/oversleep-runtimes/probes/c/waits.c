/* The waits of the C library and the system. */
#include "probe.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <poll.h>
#include <semaphore.h>
#include <sys/select.h>
#include <sys/time.h>
#endif
#ifdef __linux__
#include <linux/io_uring.h>
#include <mqueue.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#endif

/* An argument in milliseconds is rounded up, as careful programs do: a wait must not be shorter than requested. */
static i64 up(i64 ns, i64 unit) { return (ns + unit - 1) / unit * unit; }
static i64 exact(i64 ns) { return ns; }
static i64 to_ms(i64 ns) { return up(ns, MILLI); }
#ifndef _WIN32
static i64 to_us(i64 ns) { return up(ns, 1000); }
#endif

static int ready(void) { return 0; }

#ifdef _WIN32
static HANDLE event;
static int open_event(void) { return (event = CreateEventA(NULL, FALSE, FALSE, NULL)) ? 0 : EIO; }
static int win_sleep(i64 ns) { Sleep((DWORD)(ns / MILLI)); return 0; }
static int win_wait(i64 ns) { return WaitForSingleObject(event, (DWORD)(ns / MILLI)) == WAIT_TIMEOUT ? 0 : EIO; }
#else
static int do_usleep(i64 ns) { return usleep((useconds_t)(ns / 1000)) ? errno : 0; }
static int do_select(i64 ns) {
    struct timeval t = {ns / SECOND, ns % SECOND / 1000};
    return select(0, NULL, NULL, NULL, &t) ? errno : 0;
}
static int do_poll(i64 ns) { return poll(NULL, 0, (int)(ns / MILLI)) ? errno : 0; }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond;
static int open_cond(void) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
#ifndef __APPLE__
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
#endif
    return pthread_cond_init(&cond, &attr);
}
static int do_cond(i64 ns) {
    struct timespec until;
#ifdef __APPLE__
    clock_gettime(CLOCK_REALTIME, &until);
    until = span(of(until) + ns);
#else
    until = span(now() + ns);
#endif
    pthread_mutex_lock(&mutex);
    int ended;
    while ((ended = pthread_cond_timedwait(&cond, &mutex, &until)) == 0) { /* a spurious wake-up */ }
    pthread_mutex_unlock(&mutex);
    return ended == ETIMEDOUT ? 0 : ended;
}
#endif
static int do_nanosleep(i64 ns) {
    struct timespec t = span(ns);
    return nanosleep(&t, NULL) ? errno : 0;
}

#ifdef __linux__
static int do_clock_nanosleep(i64 ns) {
    struct timespec t = span(ns);
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static int epoll_fd, timer_fd;
static int open_epoll(void) { return (epoll_fd = epoll_create1(EPOLL_CLOEXEC)) < 0 ? errno : 0; }
static int do_epoll(i64 ns) {
    struct epoll_event event;
    return epoll_wait(epoll_fd, &event, 1, (int)(ns / MILLI)) ? errno : 0;
}
static int open_timerfd(void) { return (timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) < 0 ? errno : 0; }
static int do_timerfd(i64 ns) {
    struct itimerspec t = {{0, 0}, span(ns)}; /* 0 disarms it, and the read then never returns */
    uint64_t count;
    if (timerfd_settime(timer_fd, 0, &t, NULL)) return errno;
    return read(timer_fd, &count, sizeof count) == sizeof count ? 0 : errno;
}

static sem_t sem;
static int open_sem(void) { return sem_init(&sem, 0, 0) ? errno : 0; }
static int do_sem(i64 ns) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until = span(of(until) + ns);
    return sem_timedwait(&sem, &until) && errno == ETIMEDOUT ? 0 : EIO;
}

static timer_t timer;
static sigset_t alarms;
static int open_timer(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &alarms, NULL);
    return timer_create(CLOCK_MONOTONIC, &event, &timer) ? errno : 0;
}
static int do_timer(i64 ns) {
    struct itimerspec t = {{0, 0}, span(ns)};
    siginfo_t info;
    if (timer_settime(timer, 0, &t, NULL)) return errno;
    return sigwaitinfo(&alarms, &info) == SIGRTMIN ? 0 : errno;
}

static mqd_t queue;
static int open_queue(void) {
    char name[64];
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};
    snprintf(name, sizeof name, "/oversleep-probe-%d", (int)getpid());
    queue = mq_open(name, O_RDONLY | O_CREAT | O_EXCL, 0600, &attr);
    if (queue == (mqd_t)-1) return errno;
    mq_unlink(name); /* it lives as long as this process */
    return 0;
}
static int do_queue(i64 ns) {
    char message[8];
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until = span(of(until) + ns);
    return mq_timedreceive(queue, message, sizeof message, NULL, &until) < 0 && errno == ETIMEDOUT ? 0 : EIO;
}

/* io_uring without a library: one entry that is a timeout, submitted and waited for by one system call. */
static struct {
    int fd;
    unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail;
    struct io_uring_sqe *sqes;
} ring;
static int open_ring(void) {
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    ring.fd = (int)syscall(__NR_io_uring_setup, 2, &p);
    if (ring.fd < 0) return errno;
    size_t sq_size = p.sq_off.array + p.sq_entries * sizeof(unsigned);
    size_t cq_size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
    char *sq = mmap(NULL, sq_size, prot, flags, ring.fd, IORING_OFF_SQ_RING);
    char *cq = mmap(NULL, cq_size, prot, flags, ring.fd, IORING_OFF_CQ_RING);
    ring.sqes = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), prot, flags, ring.fd, IORING_OFF_SQES);
    if (sq == MAP_FAILED || cq == MAP_FAILED || ring.sqes == MAP_FAILED) return errno;
    ring.sq_tail = (unsigned *)(sq + p.sq_off.tail);
    ring.sq_mask = (unsigned *)(sq + p.sq_off.ring_mask);
    ring.sq_array = (unsigned *)(sq + p.sq_off.array);
    ring.cq_head = (unsigned *)(cq + p.cq_off.head);
    ring.cq_tail = (unsigned *)(cq + p.cq_off.tail);
    return 0;
}
static int do_ring(i64 ns) {
    struct { long long sec, nsec; } t = {ns / SECOND, ns % SECOND};
    unsigned tail = *ring.sq_tail, at = tail & *ring.sq_mask;
    struct io_uring_sqe *sqe = &ring.sqes[at];
    memset(sqe, 0, sizeof *sqe);
    sqe->opcode = IORING_OP_TIMEOUT;
    sqe->addr = (uint64_t)(uintptr_t)&t;
    sqe->len = 1;
    ring.sq_array[at] = at;
    __atomic_store_n(ring.sq_tail, tail + 1, __ATOMIC_RELEASE);
    if (syscall(__NR_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0) return errno;
    unsigned ended = __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE);
    if (ended == *ring.cq_head) return EIO;
    __atomic_store_n(ring.cq_head, ended, __ATOMIC_RELEASE);
    return 0;
}
#endif

const struct wait WAITS[] = {
    {"nanosleep", exact, ready, do_nanosleep},
#ifdef _WIN32
    {"Sleep", to_ms, ready, win_sleep},
    {"WaitForSingleObject", to_ms, open_event, win_wait},
#else
    {"usleep", to_us, ready, do_usleep},
    {"select", to_us, ready, do_select},
    {"poll", to_ms, ready, do_poll},
    {"pthread_cond_timedwait", exact, open_cond, do_cond},
#endif
#ifdef __linux__
    {"clock_nanosleep", exact, ready, do_clock_nanosleep},
    {"epoll_wait", to_ms, open_epoll, do_epoll},
    {"sem_timedwait", exact, open_sem, do_sem},
    {"timerfd", exact, open_timerfd, do_timerfd},
    {"timer_create", exact, open_timer, do_timer},
    {"mq_timedreceive", exact, open_queue, do_queue},
    {"io_uring", exact, open_ring, do_ring},
#endif
};
const size_t WAITS_COUNT = sizeof WAITS / sizeof *WAITS;
