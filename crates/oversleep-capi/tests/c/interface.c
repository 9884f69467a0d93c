/* The whole interface as C and C++ see it: the guarantees hold, and misuse is refused. Compiled as both languages. Only
 * relations are checked, never durations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void clock_and_text(void) {
    const uint64_t first_ns = oversleep_clock_now_ordered_ns();
    const uint64_t coarse_ns = oversleep_clock_coarse_ns();
    char text[600], name[16], cut[4];
    size_t length = 0, whole = 0;
    oversleep_source source;
    uint64_t hz = 0;

    CHECK(oversleep_clock_now_ordered_ns() >= first_ns && first_ns != OVERSLEEP_UNKNOWN_NS);
    /* The clock is steered to the one that the coarse clock shows, so the two may differ slightly. */
    CHECK(oversleep_clock_now_ordered_ns() + 50 * 1000 * 1000 >= coarse_ns);
    CHECK(oversleep_clock_now_ns() > 0);
    CHECK(oversleep_clock_coarse_step_ns() >= 1 && oversleep_clock_coarse_step_ns() != OVERSLEEP_UNKNOWN_NS);

    OK(oversleep_clock_source(&source));
    OK(oversleep_clock_source_name(name, sizeof name, &length));
    CHECK(length == strlen(name));
    switch (source) {
    case OVERSLEEP_SOURCE_OS:
        CHECK(strcmp(name, "os") == 0);
        IS(NONE, oversleep_clock_frequency_hz(&hz));
        CHECK(hz == 0);
        break;
    case OVERSLEEP_SOURCE_TSC:
    case OVERSLEEP_SOURCE_CNTVCT:
        CHECK(strcmp(name, source == OVERSLEEP_SOURCE_TSC ? "tsc" : "cntvct") == 0);
        OK(oversleep_clock_frequency_hz(&hz));
        CHECK(hz > 0);
        break;
    default:
        CHECK(0);
    }
    OK(oversleep_clock_why(text, sizeof text, &length));
    CHECK(length == strlen(text) && strstr(text, " is in use") != NULL);
    IS(TRUNCATED, oversleep_clock_why(cut, sizeof cut, &whole));
    CHECK(whole > strlen(cut) && memcmp(cut, text, 3) == 0 && cut[3] == '\0');
    IS(TRUNCATED, oversleep_clock_why(NULL, 0, &whole));
    CHECK(whole > 3);
    IS(NULL_POINTER, oversleep_clock_why(NULL, 1, NULL));
    IS(NULL_POINTER, oversleep_clock_source(NULL));
    IS(NULL_POINTER, oversleep_clock_frequency_hz(NULL));

    for (int32_t status = -20; status < 20; status++) {
        const oversleep_status known = (oversleep_status)oversleep_status_text(status, text, sizeof text, &length);
        CHECK(length == strlen(text));
        CHECK(known == (length > 0 ? OVERSLEEP_STATUS_OK : OVERSLEEP_STATUS_INVALID_ARGUMENT));
        CHECK((length > 0) == (status >= OVERSLEEP_STATUS_PANICKED && status <= OVERSLEEP_STATUS_REJECTED));
    }
}

static void sleeps(void) {
    uint64_t start_ns = oversleep_clock_now_ordered_ns();
    oversleep_sleeper *sleeper;
    oversleep_slept slept;

    OK(oversleep_sleep_ns(300000));
    CHECK(oversleep_clock_now_ordered_ns() - start_ns >= 300000);
    start_ns = oversleep_clock_now_ordered_ns();
    OK(oversleep_sleep_until_ns(start_ns + 200000));
    CHECK(oversleep_clock_now_ordered_ns() >= start_ns + 200000);
    OK(oversleep_sleep_until_ns(0));

    OK(oversleep_sleeper_new(&sleeper));
    CHECK(sleeper != NULL);
    start_ns = oversleep_clock_now_ordered_ns();
    memset(&slept, 0xff, sizeof slept);
    slept.size = sizeof slept;
    OK(oversleep_sleeper_sleep_ns(sleeper, 500000, &slept));
    CHECK(oversleep_clock_now_ordered_ns() - start_ns >= 500000);
    CHECK(slept.lateness_ns != OVERSLEEP_UNKNOWN_NS);
    CHECK((slept.margin_ns == OVERSLEEP_UNKNOWN_NS && slept.approach_margin_ns[0] == OVERSLEEP_UNKNOWN_NS &&
           slept.approach_margin_ns[1] == OVERSLEEP_UNKNOWN_NS) == (slept.slack == OVERSLEEP_OUTCOME_NOT_ASKED));
    CHECK((slept.approach_margin_ns[1] == OVERSLEEP_UNKNOWN_NS) ==
          (slept.approach_lateness_ns[1] == OVERSLEEP_UNKNOWN_NS));
    CHECK((slept.margin_ns == OVERSLEEP_UNKNOWN_NS) == (slept.wake_lateness_ns == OVERSLEEP_UNKNOWN_NS));
    OK(oversleep_sleeper_set_budget_ns(sleeper, 10000));
    OK(oversleep_sleeper_set_price(sleeper, 50));
    OK(oversleep_sleeper_sleep_until_ns(sleeper, 1, &slept));
    CHECK(slept.margin_ns == OVERSLEEP_UNKNOWN_NS && slept.spun_ns == 0 && slept.lateness_ns > 0);
    OK(oversleep_sleeper_sleep_ns(sleeper, 0, NULL));
    OK(oversleep_sleeper_free(sleeper));

    OK(oversleep_sleeper_free(NULL));
    IS(NULL_POINTER, oversleep_sleeper_new(NULL));
    IS(NULL_POINTER, oversleep_sleeper_sleep_ns(NULL, 1, &slept));
    IS(NULL_POINTER, oversleep_sleeper_sleep_until_ns(NULL, 1, NULL));
    IS(NULL_POINTER, oversleep_sleeper_set_budget_ns(NULL, 1));
    IS(INVALID_ARGUMENT, oversleep_sleeper_sleep_ns((oversleep_sleeper *)(uintptr_t)1, 1, NULL));
}

static void changes(void) {
    oversleep_timer_slack *slack;
    oversleep_resolution *resolution;
    oversleep_change change;
    char text[600];
    uint64_t before_ns = 0, after_ns = 0;
    const oversleep_status readable = (oversleep_status)oversleep_timer_slack_current_ns(&before_ns);

    OK(oversleep_timer_slack_hold_ns(7, &slack));
    change.size = 0;
    IS(INVALID_ARGUMENT, oversleep_timer_slack_change(slack, &change));
    change.size = sizeof change;
    OK(oversleep_timer_slack_change(slack, &change));
    OK(oversleep_timer_slack_text(slack, text, sizeof text, NULL));
    if (readable == OVERSLEEP_STATUS_OK) {
        IS(NONE, oversleep_timer_slack_why(text, sizeof text, NULL));
        CHECK(text[0] == '\0');
    } else {
        CHECK(readable == OVERSLEEP_STATUS_DENIED && change.outcome == OVERSLEEP_OUTCOME_DENIED);
        OK(oversleep_timer_slack_why(text, sizeof text, NULL));
    }
    if (change.outcome == OVERSLEEP_OUTCOME_APPLIED) {
        CHECK(change.was_ns == before_ns && change.now_ns == 7);
        OK(oversleep_timer_slack_current_ns(&after_ns));
        CHECK(after_ns == 7);
    }
    OK(oversleep_timer_slack_release(slack));
    CHECK(oversleep_timer_slack_current_ns(&after_ns) == readable && after_ns == before_ns);
    OK(oversleep_timer_slack_release(NULL));
    IS(NULL_POINTER, oversleep_timer_slack_hold_ns(1, NULL));
    IS(NULL_POINTER, oversleep_timer_slack_change(NULL, &change));

    OK(oversleep_resolution_new(&resolution));
    IS(NONE, oversleep_resolution_release(resolution));
    OK(oversleep_resolution_ask_harmless(resolution));
    OK(oversleep_resolution_ask_timer_slack_ns(resolution, 9));
    IS(INVALID_ARGUMENT, oversleep_resolution_ask_real_time(resolution, 0));
    IS(INVALID_ARGUMENT, oversleep_resolution_ask_real_time(resolution, 100));
    IS(INVALID_ARGUMENT, oversleep_resolution_ask_real_time(resolution, -1));
    OK(oversleep_resolution_change(resolution, OVERSLEEP_SETTING_TIMER, &change));
    CHECK(change.outcome == OVERSLEEP_OUTCOME_NOT_ASKED);
    OK(oversleep_resolution_hold(resolution));
    IS(ALREADY_HELD, oversleep_resolution_hold(resolution));
    OK(oversleep_resolution_change(resolution, OVERSLEEP_SETTING_TIMER_SLACK, &change));
    CHECK(change.outcome != OVERSLEEP_OUTCOME_NOT_ASKED);
    if (change.outcome == OVERSLEEP_OUTCOME_APPLIED) {
        CHECK(change.was_ns == before_ns && change.now_ns == 9);
    }
    OK(oversleep_resolution_text(resolution, OVERSLEEP_SETTING_TIMER_SLACK, text, sizeof text, NULL));
    CHECK(strncmp(text, "timer slack: ", 13) == 0);
    OK(oversleep_resolution_text(resolution, OVERSLEEP_SETTING_TIMER, text, sizeof text, NULL));
    CHECK(strncmp(text, "timer resolution: ", 18) == 0);
    IS(NONE, oversleep_resolution_text(resolution, OVERSLEEP_SETTING_REAL_TIME, text, sizeof text, NULL));
    CHECK(text[0] == '\0');
    IS(INVALID_ARGUMENT, oversleep_resolution_change(resolution, 0, &change));
    IS(INVALID_ARGUMENT, oversleep_resolution_text(resolution, 7, text, sizeof text, NULL));
    OK(oversleep_resolution_release(resolution));
    CHECK(oversleep_timer_slack_current_ns(&after_ns) == readable && after_ns == before_ns);
    IS(NONE, oversleep_resolution_release(resolution));
    OK(oversleep_resolution_ask_timer_ns(resolution, 500000));
    OK(oversleep_resolution_hold(resolution));
    OK(oversleep_resolution_free(resolution));
    CHECK(oversleep_timer_slack_current_ns(&after_ns) == readable && after_ns == before_ns);
    OK(oversleep_resolution_free(NULL));
    IS(NULL_POINTER, oversleep_resolution_new(NULL));
    IS(NULL_POINTER, oversleep_resolution_hold(NULL));
}

/* Every period is delivered or counted as missed, none early. */
static void paces(int32_t policy) {
    oversleep_pacer *pacer;
    oversleep_beat beat;
    uint64_t delivered = 0, left_out = 0, missed, due_ns, next_ns;

    beat.size = sizeof beat;
    OK(oversleep_pacer_new_every_ns(500000, &pacer));
    OK(oversleep_pacer_set_missed(pacer, policy));
    OK(oversleep_pacer_set_budget_ns(pacer, 20000));
    while (delivered < 20) {
        OK(oversleep_pacer_next_deadline_ns(pacer, &next_ns));
        OK(oversleep_pacer_wait(pacer, &beat));
        CHECK(oversleep_clock_now_ordered_ns() >= beat.deadline_ns && beat.deadline_ns >= next_ns);
        delivered += 1;
        left_out += beat.missed;
        CHECK(beat.period == delivered + left_out);
        if (policy != OVERSLEEP_MISSED_DELAY) {
            OK(oversleep_pacer_deadline_of_ns(pacer, beat.period, &due_ns));
            CHECK(due_ns == beat.deadline_ns);
        }
        if (delivered == 5) {
            OK(oversleep_sleep_ns(2600000));
        }
    }
    OK(oversleep_pacer_missed(pacer, &missed));
    CHECK(missed == left_out);
    CHECK(policy == OVERSLEEP_MISSED_CATCH_UP ? left_out == 0 : left_out >= 4);

    OK(oversleep_pacer_set_start_ns(pacer, 0));
    OK(oversleep_pacer_poll(pacer, NULL));
    OK(oversleep_pacer_set_start_ns(pacer, UINT64_MAX / 2));
    IS(NONE, oversleep_pacer_poll(pacer, &beat));
    /* Counting begins again, with periods of the same length. */
    OK(oversleep_pacer_next_deadline_ns(pacer, &due_ns));
    CHECK(due_ns == UINT64_MAX / 2 + 500000);
    OK(oversleep_pacer_missed(pacer, &missed));
    CHECK(missed == 0);
    IS(INVALID_ARGUMENT, oversleep_pacer_set_missed(pacer, 3));
    IS(INVALID_ARGUMENT, oversleep_pacer_set_missed(pacer, -1));
    OK(oversleep_pacer_free(pacer));
}

static void paces_badly(void) {
    oversleep_pacer *pacer = (oversleep_pacer *)&pacer;
    uint64_t ns;

    IS(INVALID_ARGUMENT, oversleep_pacer_new_every_ns(0, &pacer));
    CHECK(pacer == NULL);
    IS(INVALID_ARGUMENT, oversleep_pacer_new_per_second(0, &pacer));
    IS(INVALID_ARGUMENT, oversleep_pacer_new_per_second(1000000001, &pacer));
    IS(NULL_POINTER, oversleep_pacer_new_every_ns(1, NULL));
    IS(NULL_POINTER, oversleep_pacer_wait(NULL, NULL));
    IS(NULL_POINTER, oversleep_pacer_next_deadline_ns(NULL, &ns));
    OK(oversleep_pacer_new_per_second(144, &pacer));
    IS(NULL_POINTER, oversleep_pacer_missed(pacer, NULL));
    OK(oversleep_pacer_deadline_of_ns(pacer, UINT64_MAX, &ns));
    OK(oversleep_pacer_free(pacer));
    OK(oversleep_pacer_free(NULL));
}

static void backs_off(void) {
    oversleep_backoff *backoff;
    oversleep_limits limits;
    oversleep_idle_turn turn;
    oversleep_thread *self;
    uint64_t lateness_ns = 0;

    limits.size = sizeof limits;
    turn.size = sizeof turn;
    OK(oversleep_backoff_default_limits(&limits));
    CHECK(limits.spins == 100 && limits.yields == 10 && limits.park_ns == 1000 && limits.absence_ns == 1000000);
    limits.spins = 2;
    limits.yields = 1;
    OK(oversleep_backoff_new(&limits, &backoff));
    IS(NONE, oversleep_backoff_park_lateness_ns(backoff, &lateness_ns));
    for (int round = 0; round < 2; round++) {
        OK(oversleep_backoff_idle(backoff, &turn));
        CHECK(turn.idled == OVERSLEEP_IDLED_SPUN && turn.duration_ns == OVERSLEEP_UNKNOWN_NS);
        OK(oversleep_backoff_idle(backoff, NULL));
        OK(oversleep_backoff_idle(backoff, &turn));
        CHECK(turn.idled == OVERSLEEP_IDLED_YIELDED && turn.requested_ns == OVERSLEEP_UNKNOWN_NS);
        OK(oversleep_backoff_reset(backoff));
    }
    for (int turns = 0; turns < 4; turns++) {
        OK(oversleep_backoff_idle(backoff, &turn));
    }
    CHECK(turn.idled == OVERSLEEP_IDLED_PARKED && turn.requested_ns == 1000 && turn.duration_ns != OVERSLEEP_UNKNOWN_NS);
    OK(oversleep_backoff_free(backoff));

    /* An unparked thread does not wait, so a park of an hour ends at once. */
    limits.spins = limits.yields = 0;
    limits.park_ns = limits.absence_ns = UINT64_C(3600000000000);
    OK(oversleep_backoff_new(&limits, &backoff));
    OK(oversleep_thread_current(&self));
    OK(oversleep_thread_unpark(self));
    OK(oversleep_backoff_idle(backoff, &turn));
    CHECK(turn.idled == OVERSLEEP_IDLED_PARKED && turn.duration_ns < turn.requested_ns);
    OK(oversleep_thread_free(self));
    OK(oversleep_backoff_free(backoff));

    OK(oversleep_backoff_new(NULL, &backoff));
    OK(oversleep_backoff_free(backoff));
    OK(oversleep_backoff_free(NULL));
    OK(oversleep_thread_free(NULL));
    IS(NULL_POINTER, oversleep_backoff_default_limits(NULL));
    IS(NULL_POINTER, oversleep_backoff_new(NULL, NULL));
    IS(NULL_POINTER, oversleep_backoff_idle(NULL, &turn));
    IS(NULL_POINTER, oversleep_backoff_reset(NULL));
    IS(NULL_POINTER, oversleep_thread_current(NULL));
    IS(NULL_POINTER, oversleep_thread_unpark(NULL));
}

int main(void) {
    CHECK(oversleep_version() == OVERSLEEP_VERSION);
    CHECK(oversleep_abi_version() == OVERSLEEP_ABI_VERSION);
    clock_and_text();
    sleeps();
    changes();
    paces(OVERSLEEP_MISSED_SKIP);
    paces(OVERSLEEP_MISSED_CATCH_UP);
    paces(OVERSLEEP_MISSED_DELAY);
    paces_badly();
    backs_off();
    puts("all checks passed");
    return EXIT_SUCCESS;
}
