/* Functions beside places that wait often, each run after its neighbour was patched. */
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

static const struct timespec SHORT = { 0, 1 };
#define CALL(at) __attribute__((noinline)) long waits_##at(void) { \
    long answer; \
    __asm__ volatile("xor %%esi, %%esi\n syscall" : "=a"(answer) : "0"(SYS_nanosleep), "D"(&SHORT) : "rsi", "rcx", "r11", "memory"); \
    return answer; \
}
#define NEXT(at) __attribute__((noinline)) long adds_##at(long to) { __asm__ volatile(""); return to + at; }
#define BOTH(at) CALL(at) NEXT(at)
#define EACH(do) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(14) do(15) do(16)
EACH(BOTH)

int main(void) {
    long sum = 0, failed = 0;
#define RUN(at) for (int times = 0; times < 20; times++) failed += waits_##at() != 0, sum = adds_##at(sum);
    EACH(RUN)
    for (int times = 0; times < 3; times++) { EACH(RUN) }
    printf("%ld %ld\n", sum, failed);
}
