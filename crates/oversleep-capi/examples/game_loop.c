/* A game loop at exactly 144 Hz: after a slow frame it skips the frames that were missed, and keeps to the grid.
 *
 *   cc game_loop.c $(pkg-config --cflags --libs oversleep) -o game_loop && ./game_loop [FRAMES]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <oversleep.h>

/* Simulates the work of a frame; a hard one takes three periods. */
static void render(int hard) {
    const uint64_t work_ns = hard ? 21000000 : 400000;
    const uint64_t start_ns = oversleep_clock_now_ns();
    while (oversleep_clock_now_ns() - start_ns < work_ns) {
    }
}

static int failed(const char *what, oversleep_status status) {
    char text[100];
    oversleep_status_text(status, text, sizeof text, NULL);
    fprintf(stderr, "%s: %s\n", what, text);
    return EXIT_FAILURE;
}

int main(int argc, char **argv) {
    const uint64_t frames = argc > 1 ? strtoull(argv[1], NULL, 10) : 72;
    uint64_t shown = 0, skipped = 0, max_ns = 0;
    oversleep_pacer *pacer;
    oversleep_status status = oversleep_pacer_new_per_second(144, &pacer);
    if (status != OVERSLEEP_STATUS_OK) {
        return failed("could not start the loop", status);
    }
    while (shown + skipped < frames) {
        oversleep_beat beat;
        beat.size = sizeof beat;
        status = oversleep_pacer_wait(pacer, &beat);
        if (status != OVERSLEEP_STATUS_OK) {
            oversleep_pacer_free(pacer);
            return failed("could not wait", status);
        }
        shown += 1;
        skipped += beat.missed;
        if (beat.lateness_ns > max_ns) {
            max_ns = beat.lateness_ns;
        }
        render(shown == frames / 2);
    }
    oversleep_pacer_free(pacer);
    printf("shown %" PRIu64 ", skipped %" PRIu64 ", max lateness %" PRIu64 " ns\n", shown, skipped, max_ns);
    return EXIT_SUCCESS;
}
