/* What the parts of the probe share: time in nanoseconds, the waits and the clocks. */
#ifndef PROBE_H
#define PROBE_H

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef int64_t i64;
#define SECOND 1000000000LL
#define MILLI 1000000LL

static inline i64 of(struct timespec t) { return t.tv_sec * SECOND + t.tv_nsec; }
static inline struct timespec span(i64 ns) { return (struct timespec){ns / SECOND, ns % SECOND}; }

static inline i64 now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return of(t);
}

/* What is passed to the call for a request; what the call needs, opened before its first use; the call. Both functions
   return 0 or an errno. */
struct wait {
    const char *name;
    i64 (*rounded)(i64);
    int (*open)(void);
    int (*wait)(i64);
};

struct clock {
    const char *name;
    i64 (*read)(void);
    int counts_ns;
};

extern const struct wait WAITS[];
extern const size_t WAITS_COUNT;
extern const struct clock CLOCKS[];
extern const size_t CLOCKS_COUNT;

#endif
