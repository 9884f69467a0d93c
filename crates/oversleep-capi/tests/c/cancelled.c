/* A thread with a pending cancellation calls the functions that wait, open files or join threads. None of them may be a
 * cancellation point, because they can't be unwound; the thread ends after them. POSIX. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>

#include <oversleep.h>

static int done;

static void *cancelled(void *unused) {
    oversleep_resolution *resolution = NULL;
    oversleep_pacer *pacer = NULL;
    oversleep_backoff *backoff = NULL;
    const oversleep_limits parks = {sizeof(oversleep_limits), 0, 0, 1000, 1000000};

    (void)unused;
    pthread_cancel(pthread_self());
    /* The first use chooses the clock. */
    oversleep_clock_now_ns();
    oversleep_clock_verify(NULL);
    oversleep_sleep_ns(2000000);
    oversleep_pacer_new_every_ns(1000000, &pacer);
    oversleep_pacer_wait(pacer, NULL);
    oversleep_pacer_free(pacer);
    oversleep_backoff_new(&parks, &backoff);
    oversleep_backoff_idle(backoff, NULL);
    oversleep_backoff_free(backoff);
    oversleep_resolution_new(&resolution);
    oversleep_resolution_ask_cpu_latency_ns(resolution, 100000);
    oversleep_resolution_hold(resolution);
    oversleep_resolution_release(resolution);
    oversleep_resolution_free(resolution);
    done = 1;
    pthread_testcancel();
    done = 2;
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *result = NULL;

    if (pthread_create(&thread, NULL, cancelled, NULL) != 0 || pthread_join(thread, &result) != 0) {
        return 1;
    }
    printf("%s, %s\n", done == 1 ? "all calls returned" : "a call ended the thread",
           result == PTHREAD_CANCELED ? "then it ended" : "it was not cancelled");
    return 0;
}
