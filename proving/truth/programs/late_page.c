// Reads a timer's expiries into pages that a second thread provides 5 ms after they are missed.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { PAGES = 20, PAGE = 4096 };
static int faults;

static void *serve(void *unused) {
	static char zeros[PAGE] __attribute__((aligned(PAGE)));
	struct uffd_msg message;
	while (read(faults, &message, sizeof(message)) == sizeof(message)) {
		usleep(5000);
		struct uffdio_copy copy = {
			.dst = message.arg.pagefault.address & ~(uint64_t)(PAGE - 1), .src = (uint64_t)zeros, .len = PAGE,
		};
		ioctl(faults, UFFDIO_COPY, &copy);
	}
	return unused;
}

int main(void) {
	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api))
		return 2;
	char *pages = mmap(0, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = {
		.range = { .start = (uint64_t)pages, .len = PAGES * PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	if (pages == MAP_FAILED || ioctl(faults, UFFDIO_REGISTER, &range))
		return 2;
	pthread_t server;
	if (pthread_create(&server, 0, serve, 0))
		return 1;
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec once = { .it_value.tv_nsec = 10000000 };
	for (int n = 0; n < PAGES; n++)
		if (timerfd_settime(timer, 0, &once, 0) || read(timer, pages + n * PAGE, 8) != 8)
			return 1;
	return 0;
}
