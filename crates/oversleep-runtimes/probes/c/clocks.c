/* The clocks of the C library and the processor. */
#include "probe.h"
#ifndef _WIN32
#include <sys/time.h>
#endif
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

static i64 read_monotonic(void) { return now(); }
static i64 read_clock(void) { return (i64)clock() * (SECOND / CLOCKS_PER_SEC); }
#ifndef _WIN32
static i64 read_day(void) {
    struct timeval t;
    gettimeofday(&t, NULL);
    return t.tv_sec * SECOND + t.tv_usec * 1000LL;
}
#endif
#ifdef __linux__
static i64 read_coarse(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return of(t);
}
static i64 read_syscall(void) {
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return of(t);
}
#endif
#if defined(__x86_64__) || defined(__i386__)
static i64 read_tsc(void) { return (i64)__rdtsc(); }
#endif

const struct clock CLOCKS[] = {
    {"clock_gettime(CLOCK_MONOTONIC)", read_monotonic, 1},
    {"clock", read_clock, 1},
#ifndef _WIN32
    {"gettimeofday", read_day, 1},
#endif
#ifdef __linux__
    {"clock_gettime(CLOCK_MONOTONIC_COARSE)", read_coarse, 1},
    {"syscall(clock_gettime)", read_syscall, 1},
#endif
#if defined(__x86_64__) || defined(__i386__)
    {"rdtsc", read_tsc, 0},
#endif
};
const size_t CLOCKS_COUNT = sizeof CLOCKS / sizeof *CLOCKS;
