// between KIND FILE: a loop that waits for 10 ms and is then held up for 5 ms, 80 times; it writes the median that it
// measured, in ns, and the number of its page faults.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LAPS = 80, HELD_NS = 5000000, PAGE = 4096, PAGES = 1280 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int asked[2], answered[2], faults = -1;

static long now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void nap(long ns) {
	struct timespec t = { ns / 1000000000, ns % 1000000000 };
	nanosleep(&t, 0);
}

static void spin(long ns) {
	long from = now(CLOCK_THREAD_CPUTIME_ID);
	while (now(CLOCK_THREAD_CPUTIME_ID) - from < ns)
		;
}

// Holds the lock, or lets the loop wait for an answer.
static void *other(void *locks) {
	char c;
	pthread_setname_np(pthread_self(), "other");
	while (read(asked[0], &c, 1) == 1) {
		if (locks)
			pthread_mutex_lock(&lock);
		if (locks && write(answered[1], &c, 1) != 1)
			exit(1);
		nap(HELD_NS);
		if (locks)
			pthread_mutex_unlock(&lock);
		else if (write(answered[1], &c, 1) != 1)
			exit(1);
	}
	return 0;
}

// Serves each page after 5 ms.
static void *server(void *page) {
	pthread_setname_np(pthread_self(), "server");
	struct pollfd one = { .fd = faults, .events = POLLIN };
	struct uffd_msg message;
	while (poll(&one, 1, -1) > 0 && read(faults, &message, sizeof(message)) == sizeof(message)) {
		nap(HELD_NS);
		struct uffdio_zeropage zero = { { message.arg.pagefault.address & ~(PAGE - 1UL), PAGE }, 0, 0 };
		ioctl(faults, UFFDIO_ZEROPAGE, &zero);
	}
	return page;
}

static char *served(void) {
	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	char *pages = mmap(0, LAPS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register all = { { (unsigned long)pages, LAPS * PAGE }, UFFDIO_REGISTER_MODE_MISSING, 0 };
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &all))
		exit(2);
	return pages;
}

static int compare(const void *a, const void *b) {
	long x = *(const long *)a, y = *(const long *)b;
	return (x > y) - (x < y);
}

int main(int count, char **args) {
	if (count < 3 || pipe(asked) || pipe(answered))
		return 1;
	const char *kind = args[1];
	pthread_t thread;
	char *pages = 0, c = 0;
	if (!strcmp(kind, "lock") || !strcmp(kind, "pipe"))
		pthread_create(&thread, 0, other, strcmp(kind, "lock") ? 0 : &lock);
	if (!strcmp(kind, "page")) {
		pages = served();
		pthread_create(&thread, 0, server, 0);
	}
	long held[LAPS];
	for (int lap = 0; lap < LAPS; lap++) {
		nap(2 * HELD_NS);
		long from = now(CLOCK_MONOTONIC);
		if (!strcmp(kind, "work")) {
			spin(HELD_NS);
			from = now(CLOCK_MONOTONIC) - HELD_NS;
		} else if (!strcmp(kind, "lock")) {
			if (write(asked[1], &c, 1) != 1 || read(answered[0], &c, 1) != 1)
				return 1;
			from = now(CLOCK_MONOTONIC);
			pthread_mutex_lock(&lock);
			pthread_mutex_unlock(&lock);
		} else if (!strcmp(kind, "pipe")) {
			if (write(asked[1], &c, 1) != 1 || read(answered[0], &c, 1) != 1)
				return 1;
		} else if (!strcmp(kind, "page")) {
			pages[lap * PAGE] = 1;
		} else {
			// As many new pages as fit into 5 ms and more.
			char *fresh = mmap(0, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise(fresh, PAGES * PAGE, MADV_NOHUGEPAGE);
			for (int page = 0; page < PAGES; page++)
				fresh[page * PAGE] = 1;
			munmap(fresh, PAGES * PAGE);
		}
		held[lap] = now(CLOCK_MONOTONIC) - from;
	}
	nap(2 * HELD_NS);
	qsort(held, LAPS, sizeof(*held), compare);
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	FILE *out = fopen(args[2], "w");
	fprintf(out, "%ld %ld\n", held[LAPS / 2], usage.ru_minflt + usage.ru_majflt);
	fclose(out);
	return 0;
}
