// Waits in eight ways for so many seconds, each way in a thread of its own, beside a thread that spins on the first CPU and
// one that keeps the second CPU for 3 ms every 20 ms by SCHED_FIFO: recorded SECONDS.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL
#define THREAD(name)                                                                                                   \
	static void *name(void *unused) {                                                                                  \
		(void)unused;                                                                                                  \
		prctl(PR_SET_NAME, "v-" #name);

static long long end;

static long long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static struct timespec at(long long ns) {
	return (struct timespec){ns / (1000 * MS), ns % (1000 * MS)};
}

static void stay_on(int cpu) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

THREAD(span)
	struct timespec span = at(MS);
	while (now() < end)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
	return NULL;
}

THREAD(deadline)
	for (long long due = now(); due < end; due = due + MS > now() ? due + MS : now() + MS) {
		struct timespec deadline = at(due);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
	}
	return NULL;
}

THREAD(epoll)
	struct epoll_event event;
	int fd = epoll_create1(0);
	while (now() < end)
		epoll_wait(fd, &event, 1, 2);
	return NULL;
}

THREAD(futex)
	struct timespec span = at(MS);
	int word = 0;
	while (now() < end)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &span, NULL, 0);
	return NULL;
}

THREAD(cond)
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	pthread_mutex_lock(&mutex);
	while (now() < end) {
		struct timespec wall;
		clock_gettime(CLOCK_REALTIME, &wall);
		wall = at(wall.tv_sec * 1000 * MS + wall.tv_nsec + MS * 3 / 2);
		pthread_cond_timedwait(&condition, &mutex, &wall);
	}
	return NULL;
}

THREAD(poll_)
	while (now() < end)
		poll(NULL, 0, 3);
	return NULL;
}

THREAD(select_)
	while (now() < end) {
		struct timeval span = {0, 1500};
		select(0, NULL, NULL, NULL, &span);
	}
	return NULL;
}

THREAD(timerfd)
	struct itimerspec period = {at(MS), at(MS)};
	uint64_t count;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(fd, 0, &period, NULL);
	while (now() < end && read(fd, &count, sizeof count) == sizeof count)
		;
	return NULL;
}

THREAD(spin)
	stay_on(0);
	while (now() < end)
		;
	return NULL;
}

THREAD(fifo)
	struct sched_param first = {.sched_priority = 50};
	struct timespec pause = at(17 * MS);
	stay_on(1);
	sched_setscheduler(0, SCHED_FIFO, &first);
	while (now() < end) {
		for (long long until = now() + 3 * MS; now() < until;)
			;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(int count, char **words) {
	void *(*all[])(void *) = {span, deadline, epoll, futex, cond, poll_, select_, timerfd, spin, fifo};
	enum { COUNT = sizeof all / sizeof *all };
	pthread_t threads[COUNT];
	end = now() + (count > 1 ? atoll(words[1]) : 1) * 1000 * MS;
	for (int n = 0; n < COUNT; n++)
		pthread_create(&threads[n], NULL, all[n], NULL);
	for (int n = 0; n < COUNT; n++)
		pthread_join(threads[n], NULL);
	return 0;
}
