/* Prints which clock is in use here and why, what each kind of read costs, and which finer timing this process can get.
 *
 *   cc clock_choice.c $(pkg-config --cflags --libs oversleep) -o clock_choice && ./clock_choice
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <oversleep.h>

static void cost(const char *name, uint64_t (*read)(void)) {
    enum { READS = 100000 };
    const uint64_t start_ns = oversleep_clock_now_ordered_ns();
    for (int i = 0; i < READS; i++) {
        read();
    }
    printf("%s: %.1f ns\n", name, (double)(oversleep_clock_now_ordered_ns() - start_ns) / READS);
}

int main(void) {
    static const oversleep_setting settings[] = {OVERSLEEP_SETTING_TIMER_SLACK, OVERSLEEP_SETTING_TIMER,
                                                 OVERSLEEP_SETTING_REAL_TIME, OVERSLEEP_SETTING_CPU_LATENCY};
    char text[512];
    uint64_t hz;
    oversleep_resolution *resolution;

    if (oversleep_clock_source_name(text, sizeof text, NULL) != OVERSLEEP_STATUS_OK) {
        return EXIT_FAILURE;
    }
    printf("source: %s\n", text);
    if (oversleep_clock_frequency_hz(&hz) == OVERSLEEP_STATUS_OK) {
        printf("frequency: %" PRIu64 " Hz\n", hz);
    }
    oversleep_clock_why(text, sizeof text, NULL);
    printf("why: %s\n", text);

    cost("now", oversleep_clock_now_ns);
    cost("now, ordered", oversleep_clock_now_ordered_ns);
    cost("coarse", oversleep_clock_coarse_ns);
    printf("coarse step: %" PRIu64 " ns\n", oversleep_clock_coarse_step_ns());

    if (oversleep_resolution_new(&resolution) != OVERSLEEP_STATUS_OK) {
        return EXIT_FAILURE;
    }
    oversleep_resolution_ask_harmless(resolution);
    oversleep_resolution_hold(resolution);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (oversleep_resolution_text(resolution, settings[i], text, sizeof text, NULL) == OVERSLEEP_STATUS_OK) {
            printf("%s\n", text);
        }
    }
    return oversleep_resolution_free(resolution) == OVERSLEEP_STATUS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
