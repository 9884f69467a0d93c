// Waits COUNT times for MICROSECONDS in one of the ways that Linux has, and writes the median of how long that took, in
// nanoseconds: waits WAY MICROSECONDS COUNT FILE. Exit code 2 says that this system has no such way.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
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
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

static long long span;
static int fd, other, word, set_id;
static sem_t semaphore;
static pthread_mutex_t mutex;
static pthread_cond_t condition;
static mqd_t queue;
static sigset_t alarms;
static timer_t timer;
static struct io_uring_params ring;
static struct io_uring_sqe *entries;
static char *submissions;

struct pair64 {
	int64_t s, n;
};

static void fail(const char *what) {
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

static void ignore(int signal) {
	(void)signal;
}

static long long now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static struct timespec ts(long long ns) {
	return (struct timespec){ns / 1000000000, ns % 1000000000};
}

static struct timespec until(clockid_t clock) {
	return ts(now(clock) + span);
}

static struct timeval tv(void) {
	return (struct timeval){span / 1000000000, span % 1000000000 / 1000};
}

// Sleeps.
static void do_nanosleep(void) { struct timespec t = ts(span); syscall(SYS_nanosleep, &t, 0); }
static void do_clock_nanosleep(void) { struct timespec t = ts(span); clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0); }
static void do_deadline(void) { struct timespec t = until(CLOCK_MONOTONIC); clock_nanosleep(CLOCK_MONOTONIC, 1, &t, 0); }
static void do_realtime(void) { struct timespec t = until(CLOCK_REALTIME); clock_nanosleep(CLOCK_REALTIME, 1, &t, 0); }
static void do_boottime(void) { struct timespec t = until(CLOCK_BOOTTIME); clock_nanosleep(CLOCK_BOOTTIME, 1, &t, 0); }
static void do_tai(void) { struct timespec t = until(CLOCK_TAI); clock_nanosleep(CLOCK_TAI, 1, &t, 0); }

// Many things at a time.
static void do_poll(void) { poll(0, 0, span / 1000000); }
static void do_ppoll(void) { struct timespec t = ts(span); ppoll(0, 0, &t, 0); }
static void do_select(void) { struct timeval t = tv(); select(0, 0, 0, 0, &t); }
static void do_pselect(void) { struct timespec t = ts(span); pselect(0, 0, 0, 0, &t, 0); }
static void open_epoll(void) { fd = epoll_create1(0); }
static void do_epoll(void) { struct epoll_event e; epoll_wait(fd, &e, 1, span / 1000000); }
static void do_epoll2(void) {
	struct epoll_event e;
	struct pair64 t = {span / 1000000000, span % 1000000000};
	if (syscall(441, fd, &e, 1, &t, 0, 0) < 0) fail("epoll_pwait2");
}

// Futexes, and what is made of them.
static void do_futex(void) { struct timespec t = ts(span); syscall(SYS_futex, &word, FUTEX_WAIT | 128, 0, &t, 0, 0); }
static void bitset(clockid_t clock, int flag) {
	struct timespec t = until(clock);
	syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | 128 | flag, 0, &t, 0, ~0);
}
static void do_bitset(void) { bitset(CLOCK_MONOTONIC, 0); }
static void do_bitset_realtime(void) { bitset(CLOCK_REALTIME, FUTEX_CLOCK_REALTIME); }
static void do_futex2(void) {
	long long end = now(CLOCK_MONOTONIC) + span;
	struct pair64 t = {end / 1000000000, end % 1000000000};
	if (syscall(SYS_futex_wait, &word, 0l, 0xffffffffl, 2 | 128, &t, CLOCK_MONOTONIC) < 0 && errno == ENOSYS) fail("futex_wait");
}
static void do_waitv(void) {
	struct { uint64_t value, address; uint32_t flags, reserved; } one = {0, (uintptr_t)&word, 2 | 128, 0};
	long long end = now(CLOCK_REALTIME) + span;
	struct pair64 t = {end / 1000000000, end % 1000000000};
	if (syscall(SYS_futex_waitv, &one, 1, 0, &t, CLOCK_REALTIME) < 0 && errno == ENOSYS) fail("futex_waitv");
}
static void open_semaphore(void) { sem_init(&semaphore, 0, 0); }
static void do_semaphore(void) { struct timespec t = until(CLOCK_REALTIME); sem_timedwait(&semaphore, &t); }
static void open_condition(void) {
	pthread_condattr_t how;
	pthread_condattr_init(&how);
	pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
	pthread_cond_init(&condition, &how);
	pthread_mutex_lock(&mutex);
}
static void do_condition(void) {
	struct timespec t = until(CLOCK_MONOTONIC);
	pthread_cond_timedwait(&condition, &mutex, &t);
}
static void open_pi(void) {
	pthread_mutexattr_t how;
	pthread_mutexattr_init(&how);
	pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &how);
}
static void *holder(void *unused) {
	pthread_mutex_lock(&mutex);
	word = 1;
	for (;;) pause();
	return unused;
}
static void open_held(void) {
	pthread_t thread;
	pthread_create(&thread, 0, holder, 0);
	while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST)) usleep(1000);
}
static void open_held_pi(void) { open_pi(); open_held(); }
static void do_mutex(void) { struct timespec t = until(CLOCK_REALTIME); pthread_mutex_timedlock(&mutex, &t); }

// System V and POSIX.
static void open_set(void) {
	set_id = semget(IPC_PRIVATE, 1, 0600);
	if (set_id < 0) fail("semget");
}
static void do_set(void) {
	struct sembuf down = {0, -1, 0};
	struct timespec t = ts(span);
	semtimedop(set_id, &down, 1, &t);
}
static void close_set(void) { semctl(set_id, 0, IPC_RMID); }
static void open_queue(void) {
	struct mq_attr how = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char name[64];
	snprintf(name, sizeof name, "/oversleep-truth-%d", getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &how);
	if (queue < 0) fail("mq_open");
	mq_unlink(name);
}
static void open_full(void) { open_queue(); mq_send(queue, "1234567", 8, 0); }
static void do_receive(void) {
	char message[8];
	struct timespec t = until(CLOCK_REALTIME);
	mq_timedreceive(queue, message, 8, 0, &t);
}
static void do_send(void) { struct timespec t = until(CLOCK_REALTIME); mq_timedsend(queue, "1234567", 8, 0, &t); }
static void open_alarms(void) {
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarms, 0);
}
static void do_sigtimedwait(void) { struct timespec t = ts(span); sigtimedwait(&alarms, 0, &t); }

// Timers of their own.
static void handle(void) { signal(SIGALRM, ignore); }
static void timerfd(int flags, long long first, long long period) {
	struct itimerspec when = {ts(period), ts(first)};
	if (fd == 0 && (fd = timerfd_create(CLOCK_MONOTONIC, 0)) < 0) fail("timerfd_create");
	timerfd_settime(fd, flags, &when, 0);
}
static void do_read(void) { uint64_t count; if (read(fd, &count, 8) != 8) fail("read"); }
static void open_periodic(void) { timerfd(0, span, span); }
static void do_one_shot(void) { timerfd(0, span, 0); do_read(); }
static void do_absolute(void) { timerfd(1, now(CLOCK_MONOTONIC) + span, 0); do_read(); }
static void open_both(void) {
	struct epoll_event e = {.events = EPOLLIN};
	timerfd(0, span, span);
	other = epoll_create1(0);
	epoll_ctl(other, EPOLL_CTL_ADD, fd, &e);
}
static void do_both(void) { struct epoll_event e; epoll_wait(other, &e, 1, 1000); do_read(); }
static void posix_timer(int notify) {
	struct sigevent how = {.sigev_notify = notify, .sigev_signo = SIGALRM};
	struct itimerspec when = {ts(span), ts(span)};
	if (timer_create(CLOCK_MONOTONIC, &how, &timer)) fail("timer_create");
	timer_settime(timer, 0, &when, 0);
}
static void open_timer(void) { handle(); posix_timer(SIGEV_SIGNAL); }
static void open_timer_blocked(void) { open_alarms(); posix_timer(SIGEV_SIGNAL); }
static void open_itimer(void) {
	struct itimerval when = {tv(), tv()};
	handle();
	setitimer(ITIMER_REAL, &when, 0);
}
static void do_pause(void) { pause(); }
static void open_suspend(void) { open_alarms(); handle(); open_itimer(); }
static void do_suspend(void) { sigset_t none; sigemptyset(&none); sigsuspend(&none); }
static void do_wait_signal(void) { sigwaitinfo(&alarms, 0); }
static void do_interrupted(void) { struct timespec t = ts(1000000000); nanosleep(&t, 0); }

// Sockets.
static void timeout(int option) {
	struct timeval t = tv();
	setsockopt(fd, SOL_SOCKET, option, &t, sizeof t);
}
static void open_socket(void) { fd = socket(AF_UNIX, SOCK_DGRAM, 0); timeout(SO_RCVTIMEO); }
static void do_recv(void) { char c; if (recv(fd, &c, 1, 0) >= 0) fail("recv"); }
static void do_recvmsg(void) { struct msghdr m = {0}; if (recvmsg(fd, &m, 0) >= 0) fail("recvmsg"); }
static void open_stream(void) {
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) fail("socketpair");
	fd = pair[0];
	timeout(SO_RCVTIMEO);
	timeout(SO_SNDTIMEO);
}
static void open_stuffed(void) {
	static char bytes[65536];
	open_stream();
	while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
}
static void do_socket_read(void) { char c; if (read(fd, &c, 1) >= 0) fail("read"); }
static void do_socket_send(void) { static char bytes[65536]; if (send(fd, bytes, sizeof bytes, 0) >= 0) fail("send"); }
static void open_listen(void) {
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(fd, (void *)&at, sizeof at.sun_family) || listen(fd, 1)) fail("listen");
	timeout(SO_RCVTIMEO);
}
static void do_accept(void) { if (accept(fd, 0, 0) >= 0) fail("accept"); }

// io_uring.
static void open_ring(void) {
	fd = syscall(425, 4, &ring);
	if (fd < 0) fail("io_uring_setup");
	submissions = mmap(0, ring.sq_off.array + 64, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	entries = mmap(0, 4 * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	if (submissions == MAP_FAILED || entries == MAP_FAILED) fail("mmap");
}
static void do_ring_wait(void) {
	struct pair64 t = {span / 1000000000, span % 1000000000};
	struct { uint64_t mask; uint32_t size, pad; uint64_t time; } how = {0, 8, 0, (uintptr_t)&t};
	syscall(426, fd, 0, 1, 1 | 8, &how, sizeof how);
}
static void do_ring_timeout(void) {
	struct pair64 t = {span / 1000000000, span % 1000000000};
	unsigned *tail = (void *)(submissions + ring.sq_off.tail), *array = (void *)(submissions + ring.sq_off.array);
	// Completions are not read: with only a few the queue has room, and what is beyond it is kept by the kernel.
	unsigned at = *tail & (ring.sq_entries - 1);
	memset(&entries[at], 0, sizeof entries[at]);
	entries[at].opcode = IORING_OP_TIMEOUT;
	entries[at].fd = -1;
	entries[at].addr = (uintptr_t)&t;
	entries[at].len = 1;
	array[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	static unsigned done;
	char *completions = submissions;
	unsigned *head = (void *)(completions + ring.cq_off.head);
	__atomic_store_n(head, done++, __ATOMIC_RELEASE);
	if (syscall(426, fd, 1, 1, 1, 0, 0) < 0) fail("io_uring_enter");
}

static const struct way {
	const char *name;
	void (*open)(void), (*wait)(void), (*close)(void);
} ways[] = {
	{"nanosleep", 0, do_nanosleep, 0}, {"clock_nanosleep", 0, do_clock_nanosleep, 0},
	{"deadline", 0, do_deadline, 0}, {"deadline realtime", 0, do_realtime, 0}, {"deadline boottime", 0, do_boottime, 0},
	{"deadline tai", 0, do_tai, 0}, {"poll", 0, do_poll, 0}, {"ppoll", 0, do_ppoll, 0}, {"select", 0, do_select, 0},
	{"pselect", 0, do_pselect, 0}, {"epoll_wait", open_epoll, do_epoll, 0}, {"epoll_pwait2", open_epoll, do_epoll2, 0},
	{"futex", 0, do_futex, 0}, {"futex bitset", 0, do_bitset, 0}, {"futex realtime", 0, do_bitset_realtime, 0},
	{"futex_wait", 0, do_futex2, 0}, {"futex_waitv", 0, do_waitv, 0}, {"sem_timedwait", open_semaphore, do_semaphore, 0},
	{"condition", open_condition, do_condition, 0}, {"mutex", open_held, do_mutex, 0},
	{"mutex pi", open_held_pi, do_mutex, 0}, {"semtimedop", open_set, do_set, close_set},
	{"mq_timedreceive", open_queue, do_receive, 0}, {"mq_timedsend", open_full, do_send, 0},
	{"sigtimedwait", open_alarms, do_sigtimedwait, 0}, {"timerfd", open_periodic, do_read, 0},
	{"timerfd once", 0, do_one_shot, 0}, {"timerfd absolute", 0, do_absolute, 0}, {"timerfd epoll", open_both, do_both, 0},
	{"timer pause", open_timer, do_pause, 0}, {"timer sigwaitinfo", open_timer_blocked, do_wait_signal, 0},
	{"itimer pause", open_itimer, do_pause, 0}, {"itimer sigsuspend", open_suspend, do_suspend, 0},
	{"itimer nanosleep", open_itimer, do_interrupted, 0}, {"socket recv", open_socket, do_recv, 0},
	{"socket recvmsg", open_socket, do_recvmsg, 0}, {"socket read", open_stream, do_socket_read, 0},
	{"socket send", open_stuffed, do_socket_send, 0}, {"socket accept", open_listen, do_accept, 0},
	{"io_uring wait", open_ring, do_ring_wait, 0}, {"io_uring timeout", open_ring, do_ring_timeout, 0},
};

static int by_size(const void *a, const void *b) {
	long long x = *(const long long *)a, y = *(const long long *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv) {
	if (argc != 5) return 1;
	span = atoll(argv[2]) * 1000;
	int count = atoi(argv[3]);
	long long *took = calloc(count, sizeof *took);
	for (unsigned n = 0; n < sizeof ways / sizeof *ways; n++) {
		if (strcmp(ways[n].name, argv[1])) continue;
		if (ways[n].open) ways[n].open();
		for (int i = 0; i < count; i++) {
			long long began = now(CLOCK_MONOTONIC);
			ways[n].wait();
			took[i] = now(CLOCK_MONOTONIC) - began;
		}
		if (ways[n].close) ways[n].close();
		qsort(took, count, sizeof *took, by_size);
		FILE *out = fopen(argv[4], "w");
		if (!out) fail(argv[4]);
		fprintf(out, "%lld\n", took[count / 2]);
		return fclose(out) != 0;
	}
	fprintf(stderr, "there is no way %s\n", argv[1]);
	return 1;
}
