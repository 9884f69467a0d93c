/* Waits and clocks as a C program calls them. The protocol is in ../PROTOCOL.md. */
#include "probe.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { READS = 1000, STEPS = 16 };

static void list(const char *name, const i64 *values, i64 n) {
    printf(",\"%s\":[", name);
    for (i64 i = 0; i < n; i++) printf("%s%lld", i ? "," : "", (long long)values[i]);
    printf("]");
}

static i64 cpu_time(void) {
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) ? 0 : of(t);
}

static void measure_wait(size_t at, i64 requested, i64 n) {
    i64 rounded = WAITS[at].rounded(requested);
    i64 *t = calloc((size_t)n, sizeof *t), *d = calloc((size_t)n, sizeof *d);
    int failed = t && d ? WAITS[at].open() : ENOMEM;
    /* The first calls of a process meet cold caches. */
    for (int i = 0; i < 3 && !failed; i++) failed = WAITS[at].wait(WAITS[at].rounded(50000));
    i64 cpu = cpu_time();
    for (i64 i = 0; i < n && !failed; i++) {
        t[i] = now();
        failed = WAITS[at].wait(rounded);
        d[i] = now() - t[i];
    }
    cpu = cpu_time() - cpu;
    if (failed) {
        printf("{\"type\":\"skip\",\"op\":\"%s\",\"why\":\"%s\"}\n", WAITS[at].name, strerror(failed));
    } else {
        printf("{\"type\":\"s\",\"op\":\"%s\",\"requested\":%lld,\"rounded\":%lld,\"n\":%lld,\"unit\":\"ns\",\"cpu\":%lld",
               WAITS[at].name, (long long)requested, (long long)rounded, (long long)n, (long long)cpu);
        list("t", t, n);
        list("d", d, n);
        printf("}\n");
    }
    free(t);
    free(d);
}

static void measure_clock(size_t at, i64 n) {
    i64 *d = calloc((size_t)n, sizeof *d), step[STEPS], steps = 0;
    volatile i64 sink = 0;
    if (!d) exit(1);
    for (i64 i = 0; i < n; i++) {
        i64 begun = now();
        for (int k = 0; k < READS; k++) sink += CLOCKS[at].read();
        d[i] = now() - begun;
    }
    i64 last = CLOCKS[at].read(), until = now() + 40 * MILLI;
    while (CLOCKS[at].counts_ns && steps < STEPS && now() < until) {
        i64 next = CLOCKS[at].read();
        if (next > last) step[steps++] = next - last;
        last = next;
    }
    printf("{\"type\":\"c\",\"op\":\"%s\",\"n\":%lld,\"reads\":%d", CLOCKS[at].name, (long long)n, READS);
    list("d", d, n);
    list("step", step, steps);
    printf("}\n");
    free(d);
}

static void run(const char *token) {
    char op[64];
    const char *last = strrchr(token, '@'), *first = last;
    while (first && first > token && *--first != '@') {}
    if (!first || first == token || (size_t)(first - token) >= sizeof op) return;
    memcpy(op, token, (size_t)(first - token));
    op[first - token] = 0;
    i64 requested = strtoll(first + 1, NULL, 10), n = strtoll(last + 1, NULL, 10);
    for (size_t at = 0; at < WAITS_COUNT; at++)
        if (!strcmp(op, WAITS[at].name)) { measure_wait(at, requested, n); return; }
    for (size_t at = 0; at < CLOCKS_COUNT; at++)
        if (!strcmp(op, CLOCKS[at].name)) { measure_clock(at, n); return; }
    printf("{\"type\":\"skip\",\"op\":\"%s\",\"why\":\"this system has no such call\"}\n", op);
}

int main(int argc, char **argv) {
    i64 slack = -1;
#ifdef __linux__
    slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
#endif
    struct timespec resolution = {0, 0};
    clock_getres(CLOCK_MONOTONIC, &resolution);
    printf("{\"type\":\"hello\",\"proto\":1,\"runtime\":\"c\",\"version\":\"%s\",\"clock\":\"CLOCK_MONOTONIC\",\"res_ns\":%lld,",
           __VERSION__, (long long)of(resolution));
    if (slack >= 0) printf("\"slack_ns\":%lld,", (long long)slack);
    printf("\"pid\":%d,\"now\":%lld}\n", (int)getpid(), (long long)now());
    fflush(stdout);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "list")) {
            for (size_t at = 0; at < WAITS_COUNT; at++)
                printf("{\"type\":\"op\",\"op\":\"%s\",\"kind\":\"wait\"}\n", WAITS[at].name);
            for (size_t at = 0; at < CLOCKS_COUNT; at++)
                printf("{\"type\":\"op\",\"op\":\"%s\",\"kind\":\"clock\"}\n", CLOCKS[at].name);
        } else {
            run(argv[i]);
        }
        fflush(stdout);
    }
    printf("{\"type\":\"end\",\"now\":%lld}\n", (long long)now());
    return 0;
}
