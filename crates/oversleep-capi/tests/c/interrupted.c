/* Signal handlers interrupt calls and make calls themselves, other threads free what is in use, and the process forks while
 * threads wait. Only relations are checked, never durations. POSIX. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <oversleep.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                    \
            _exit(EXIT_FAILURE);                                                                                       \
        }                                                                                                              \
    } while (0)
#define OK(call) CHECK((call) == OVERSLEEP_STATUS_OK)

static const uint64_t HOUR_NS = UINT64_C(3600000000000);

static oversleep_pacer *pacer;
static oversleep_parker *parker;
static pthread_t interrupted;
static volatile sig_atomic_t is_over, refused, unparks;

/* What a handler may call: the clock, and handles, of which those in use refuse it. */
static void handler(int number) {
    oversleep_beat beat;
    int status;

    (void)number;
    CHECK(oversleep_clock_now_ns() != OVERSLEEP_UNKNOWN_NS);
    beat.size = sizeof beat;
    status = oversleep_pacer_poll(pacer, &beat);
    CHECK(status >= 0 || status == OVERSLEEP_STATUS_IN_USE);
    refused = refused || status == OVERSLEEP_STATUS_IN_USE;
    if (unparks) OK(oversleep_parker_unpark(parker));
}

static void *interrupts(void *unused) {
    (void)unused;
    while (!is_over) {
        CHECK(pthread_kill(interrupted, SIGUSR1) == 0);
        OK(oversleep_sleep_ns(50000));
    }
    return NULL;
}

/* No signal ends a wait early, and one that was interrupted ends. */
static void signals(void) {
    struct sigaction action;
    oversleep_woken woken;
    uint64_t deadline_ns;
    pthread_t thread;
    int i;

    action.sa_handler = handler;
    action.sa_flags = 0;
    sigemptyset(&action.sa_mask);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    interrupted = pthread_self();
    oversleep_clock_now_ns();
    woken.size = sizeof woken;
    OK(oversleep_pacer_new_every_ns(400000, &pacer));
    OK(oversleep_parker_new(&parker));
    CHECK(pthread_create(&thread, NULL, interrupts, NULL) == 0);
    for (i = 0; i < 100 || !refused; i++) {
        deadline_ns = oversleep_clock_now_ns() + 300000;
        OK(oversleep_sleep_until_ns(deadline_ns));
        CHECK(oversleep_clock_now_ns() >= deadline_ns);
        OK(oversleep_pacer_wait(pacer, NULL));
        deadline_ns = oversleep_clock_now_ns() + 300000;
        OK(oversleep_parker_park_until_ns(parker, deadline_ns, &woken));
        CHECK(oversleep_clock_now_ns() >= deadline_ns && woken.lateness_ns != OVERSLEEP_UNKNOWN_NS);
    }
    unparks = 1;
    for (i = 0; i < 100; i++) {
        OK(oversleep_parker_park(parker));
        OK(oversleep_parker_park_timeout_ns(parker, HOUR_NS, &woken));
        CHECK(woken.lateness_ns == OVERSLEEP_UNKNOWN_NS);
    }
    is_over = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    unparks = 0;
    OK(oversleep_pacer_free(pacer));
}

static void *parks(void *unused) {
    int status;

    (void)unused;
    do status = oversleep_parker_park(parker);
    while (status == OVERSLEEP_STATUS_IN_USE);
    OK(status);
    return NULL;
}

static void *sleeps(void *unused) {
    (void)unused;
    while (!is_over) OK(oversleep_sleep_ns(100000));
    return NULL;
}

/* Threads aren't in the child: what they use stays in use, and everything else works. */
static void in_child(oversleep_resolution *held) {
    oversleep_parker *own;
    oversleep_woken woken;
    uint64_t deadline_ns = oversleep_clock_now_ns() + 200000;

    woken.size = sizeof woken;
    OK(oversleep_sleep_until_ns(deadline_ns));
    CHECK(oversleep_clock_now_ns() >= deadline_ns);
    OK(oversleep_pacer_wait(pacer, NULL));
    OK(oversleep_parker_new(&own));
    OK(oversleep_parker_park_timeout_ns(own, 200000, &woken));
    OK(oversleep_parker_free(own));
    CHECK(oversleep_parker_park(parker) == OVERSLEEP_STATUS_IN_USE);
    OK(oversleep_parker_unpark(parker));
    OK(oversleep_resolution_release(held));
    OK(oversleep_resolution_hold(held));
    OK(oversleep_resolution_free(held));
    OK(oversleep_pacer_free(pacer));
    _exit(EXIT_SUCCESS);
}

static void forks(void) {
    oversleep_resolution *held;
    pthread_t parked, busy;
    int i, status = 0;

    is_over = 0;
    OK(oversleep_parker_new(&parker));
    OK(oversleep_pacer_new_every_ns(200000, &pacer));
    OK(oversleep_resolution_new(&held));
    OK(oversleep_resolution_ask_timer_slack_ns(held, 1000));
    OK(oversleep_resolution_hold(held));
    CHECK(pthread_create(&parked, NULL, parks, NULL) == 0);
    CHECK(pthread_create(&busy, NULL, sleeps, NULL) == 0);
    /* It is parked once the handle is in use. */
    while (oversleep_parker_park_until_ns(parker, 1, NULL) != OVERSLEEP_STATUS_IN_USE) sched_yield();
    for (i = 0; i < 50; i++) {
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) in_child(held);
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(status == 0);
        OK(oversleep_pacer_wait(pacer, NULL));
    }
    CHECK(oversleep_parker_free(parker) == OVERSLEEP_STATUS_IN_USE);
    OK(oversleep_parker_unpark(parker));
    CHECK(pthread_join(parked, NULL) == 0);
    is_over = 1;
    CHECK(pthread_join(busy, NULL) == 0);
    OK(oversleep_parker_free(parker));
    OK(oversleep_pacer_free(pacer));
    OK(oversleep_resolution_free(held));
}

int main(void) {
    signals();
    OK(oversleep_parker_free(parker));
    forks();
    puts("all checks passed");
    return EXIT_SUCCESS;
}
