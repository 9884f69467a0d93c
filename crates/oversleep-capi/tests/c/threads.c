/* Parking, time slices and the clock that counts suspend, as C and C++ see them. Compiled as both languages. Only relations
 * are checked, never durations. */
#include <stdio.h>
#include <stdlib.h>

#include <oversleep.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(EXIT_FAILURE);                                                                                        \
        }                                                                                                              \
    } while (0)
#define OK(call) CHECK((call) == OVERSLEEP_STATUS_OK)
#define IS(status, call) CHECK((call) == OVERSLEEP_STATUS_##status)

static void parks(void) {
    oversleep_parker *parker;
    oversleep_woken woken;
    oversleep_backoff *backoff;
    oversleep_limits limits;
    oversleep_idle_turn turn;
    uint64_t deadline_ns;

    woken.size = sizeof woken;
    OK(oversleep_parker_new(&parker));
    OK(oversleep_parker_unpark(parker));
    OK(oversleep_parker_unpark(parker));
    OK(oversleep_parker_park(parker));
    deadline_ns = oversleep_clock_now_ordered_ns() + 300000;
    OK(oversleep_parker_park_until_ns(parker, deadline_ns, &woken));
    CHECK(oversleep_clock_now_ordered_ns() >= deadline_ns && woken.lateness_ns != OVERSLEEP_UNKNOWN_NS);
    OK(oversleep_parker_unpark(parker));
    OK(oversleep_parker_park_until_ns(parker, UINT64_MAX, &woken));
    CHECK(woken.lateness_ns == OVERSLEEP_UNKNOWN_NS);
    OK(oversleep_parker_park_timeout_ns(parker, 200000, &woken));
    CHECK(woken.lateness_ns != OVERSLEEP_UNKNOWN_NS);

    /* A token is there, so a park of an hour ends at once. */
    limits.size = sizeof limits;
    OK(oversleep_backoff_default_limits(&limits));
    limits.spins = limits.yields = 0;
    limits.park_ns = limits.absence_ns = UINT64_C(3600000000000);
    OK(oversleep_backoff_new(&limits, &backoff));
    turn.size = sizeof turn;
    OK(oversleep_parker_unpark(parker));
    OK(oversleep_backoff_idle_on(backoff, parker, &turn));
    CHECK(turn.idled == OVERSLEEP_IDLED_PARKED && turn.duration_ns < turn.requested_ns);
    IS(NULL_POINTER, oversleep_backoff_idle_on(backoff, NULL, &turn));
    OK(oversleep_backoff_free(backoff));

    OK(oversleep_parker_free(parker));
    OK(oversleep_parker_free(NULL));
    IS(NULL_POINTER, oversleep_parker_new(NULL));
    IS(NULL_POINTER, oversleep_parker_unpark(NULL));
    IS(NULL_POINTER, oversleep_parker_park(NULL));
    IS(NULL_POINTER, oversleep_parker_park_until_ns(NULL, 1, NULL));
}

static void slices(void) {
    oversleep_time_slice *outer, *inner;
    oversleep_resolution *resolution;
    oversleep_change change;
    char text[600];
    uint64_t before_ns = 0, now_ns = 0;
    const oversleep_status readable = (oversleep_status)oversleep_time_slice_current_ns(&before_ns);

    change.size = sizeof change;
    OK(oversleep_time_slice_hold_ns(300000, &outer));
    OK(oversleep_time_slice_change(outer, &change));
    OK(oversleep_time_slice_text(outer, text, sizeof text, NULL));
    CHECK(text[0] != '\0');
    if (readable == OVERSLEEP_STATUS_OK) {
        IS(NONE, oversleep_time_slice_why(text, sizeof text, NULL));
    } else {
        CHECK(readable == OVERSLEEP_STATUS_DENIED && change.outcome == OVERSLEEP_OUTCOME_DENIED);
        OK(oversleep_time_slice_why(text, sizeof text, NULL));
    }
    if (change.outcome == OVERSLEEP_OUTCOME_APPLIED) {
        CHECK(change.was_ns == before_ns && change.now_ns == 300000);
        /* Shorter than the shortest is taken as that, and the shorter of two counts. */
        OK(oversleep_time_slice_hold_ns(1, &inner));
        OK(oversleep_time_slice_current_ns(&now_ns));
        CHECK(now_ns == 100000);
        OK(oversleep_time_slice_release(outer));
        OK(oversleep_time_slice_current_ns(&now_ns));
        CHECK(now_ns == 100000);
        OK(oversleep_time_slice_release(inner));
        OK(oversleep_time_slice_current_ns(&now_ns));
        CHECK(now_ns == before_ns);
    } else {
        OK(oversleep_time_slice_release(outer));
    }
    OK(oversleep_time_slice_release(NULL));
    IS(NULL_POINTER, oversleep_time_slice_hold_ns(1, NULL));
    IS(NULL_POINTER, oversleep_time_slice_change(NULL, &change));

    OK(oversleep_resolution_new(&resolution));
    OK(oversleep_resolution_ask_time_slice_ns(resolution, 200000));
    OK(oversleep_resolution_ask_multimedia(resolution));
    OK(oversleep_resolution_ask_real_time_every_ns(resolution, 1, 1000000));
    IS(INVALID_ARGUMENT, oversleep_resolution_ask_real_time_every_ns(resolution, 100, 1000000));
    IS(INVALID_ARGUMENT, oversleep_resolution_ask_real_time_every_ns(resolution, 1, 0));
    OK(oversleep_resolution_hold(resolution));
    OK(oversleep_resolution_change(resolution, OVERSLEEP_SETTING_TIME_SLICE, &change));
    CHECK(change.outcome != OVERSLEEP_OUTCOME_NOT_ASKED);
    OK(oversleep_resolution_text(resolution, OVERSLEEP_SETTING_MULTIMEDIA, text, sizeof text, NULL));
    OK(oversleep_resolution_free(resolution));
}

static void clocks(void) {
    oversleep_faults faults;
    uint64_t deadline_ns, lateness_ns = OVERSLEEP_UNKNOWN_NS;

    faults.size = sizeof faults;
    OK(oversleep_clock_faults(&faults));
    CHECK(faults.is_demoted <= 1 && (faults.backward > 0) == (faults.backward_max_ns > 0));
    faults.size = 3;
    IS(INVALID_ARGUMENT, oversleep_clock_faults(&faults));

    deadline_ns = oversleep_boot_now_ns() + 300000;
    OK(oversleep_boot_wait_until_ns(deadline_ns, &lateness_ns));
    CHECK(oversleep_boot_now_ns() >= deadline_ns && lateness_ns != OVERSLEEP_UNKNOWN_NS);
    OK(oversleep_boot_wait_until_ns(0, NULL));
    OK(oversleep_clock_before_sandbox());
    CHECK(oversleep_clock_now_ns() > 0);
}

int main(void) {
    parks();
    slices();
    clocks();
    puts("all checks passed");
    return EXIT_SUCCESS;
}
