/**
 * oversleep: sleeps that end on time, and the fastest clock that is valid here.
 *
 * Units: names end in theirs (_ns: nanoseconds). Times are nanoseconds on one monotonic line, that of
 * oversleep_clock_now_ns; they are added and subtracted as the integers they are.
 *
 * Errors: functions answer with an oversleep_status. Zero is success; positive values tell something, and are
 * no errors; negative values are misuse, and then nothing was done, or an internal failure. A denied change of the
 * system is an outcome (oversleep_change) with a text, never an error. The few functions that return a time return
 * OVERSLEEP_UNKNOWN_NS after an internal failure. Nothing is ever thrown or unwound into the caller.
 * Running out of memory ends the process.
 *
 * Handles: made by a _new, _hold or _current function, ended by the matching _free or _release. A handle must not be
 * used after that, and a pointer must be NULL or valid for what it is for; nothing can check either. NULL and
 * misaligned pointers, numbers out of range, and a second call with a handle that is in use (from another thread, or
 * from a signal handler) are refused with a status. Apart from that, handles may be used in any thread, except where a
 * function says that what it changed belongs to the calling thread.
 *
 * Text: in English, UTF-8, copied into `text`, which has `capacity` bytes, always ended by a NUL when capacity is not
 * zero, and cut off between characters where it does not fit (OVERSLEEP_STATUS_TRUNCATED). `length`, unless NULL,
 * becomes the length of the whole text without the NUL. To ask for the length only, give NULL and a capacity of 0.
 *
 * Threads that are cancelled (pthread_cancel): no function is a cancellation point, on Linux and macOS. What is pending
 * waits for the next one behind the call. A thread must not be cancelled asynchronously meanwhile.
 *
 * Structures: the library writes all of a structure. Their `reserved` members are zero, for later versions.
 *
 * Platforms: Linux on x86-64 and AArch64 is where everything is measured. Windows and macOS have bodies of their own.
 * On other systems the standard library's clock and sleep are used, and every setting is denied with that reason.
 */


#ifndef OVERSLEEP_H
#define OVERSLEEP_H

/* Made by `cargo xtask header` from crates/oversleep-capi/src; not to be edited by hand. */

#include <stddef.h>
#include <stdint.h>

/**
 * Version of this interface, for programs that load the library by hand: compare with `oversleep_abi_version`. It
 * grows when a function or a structure changes in a way that compiled programs would notice, never when something is
 * added.
 */
#define OVERSLEEP_ABI_VERSION 1

/**
 * An unknown or inapplicable time, which is never shown as zero.
 */
#define OVERSLEEP_UNKNOWN_NS UINT64_MAX

/**
 * A limit that is not set.
 */
#define OVERSLEEP_UNLIMITED_NS (UINT64_MAX - 1)

/**
 * What became of a call.
 *
 * Zero is success. Positive: the call did what it could, and there is something to know. Negative: misuse, and nothing
 * was done; or an internal failure. Nothing was written then, except that handles to be created become NULL and text
 * buffers become empty. Later versions may add values: take unknown ones by their sign.
 */
enum oversleep_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Done.
     */
    OVERSLEEP_STATUS_OK = 0,
    /**
     * There is nothing to give: not due, not known, not asked for, or nothing to undo. Nothing was written, but for
     * text buffers, which become empty.
     */
    OVERSLEEP_STATUS_NONE = 1,
    /**
     * The text did not fit, and was cut off. The length it needs was written.
     */
    OVERSLEEP_STATUS_TRUNCATED = 2,
    /**
     * The operating system does not allow it, or has no such thing.
     */
    OVERSLEEP_STATUS_DENIED = 3,
    /**
     * The processor's counter failed a check and is out of use. `oversleep_clock_why` says which.
     */
    OVERSLEEP_STATUS_REJECTED = 4,
    /**
     * A pointer is NULL that must not be.
     */
    OVERSLEEP_STATUS_NULL_POINTER = -1,
    /**
     * A number is out of its range, or a pointer is not aligned.
     */
    OVERSLEEP_STATUS_INVALID_ARGUMENT = -2,
    /**
     * Another thread is in a call with this handle, or a signal handler interrupted one.
     */
    OVERSLEEP_STATUS_IN_USE = -3,
    /**
     * What the handle holds belongs to the thread that took hold of it, and only that can undo it.
     */
    OVERSLEEP_STATUS_WRONG_THREAD = -4,
    /**
     * The request is held already; release it first.
     */
    OVERSLEEP_STATUS_ALREADY_HELD = -5,
    /**
     * The library failed internally (a panic, contained). Its message went to standard error.
     */
    OVERSLEEP_STATUS_PANICKED = -6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum oversleep_status oversleep_status;
#else
typedef int32_t oversleep_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A clock that `oversleep_clock_now_ns` can read.
 */
enum oversleep_source
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * One that this version of the interface has no name for.
     */
    OVERSLEEP_SOURCE_OTHER = 0,
    /**
     * The time-stamp counter of x86-64.
     */
    OVERSLEEP_SOURCE_TSC = 1,
    /**
     * The virtual count of AArch64's generic timer.
     */
    OVERSLEEP_SOURCE_CNTVCT = 2,
    /**
     * The operating system's monotonic clock.
     */
    OVERSLEEP_SOURCE_OS = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum oversleep_source oversleep_source;
#else
typedef int32_t oversleep_source;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What became of a change that was asked of the operating system.
 */
enum oversleep_outcome
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It was not asked for.
     */
    OVERSLEEP_OUTCOME_NOT_ASKED = 0,
    /**
     * It is in effect, and is put back on release.
     */
    OVERSLEEP_OUTCOME_APPLIED = 1,
    /**
     * Nothing was changed: what is in effect is already as fine as what was asked.
     */
    OVERSLEEP_OUTCOME_ALREADY_FINER = 2,
    /**
     * Nothing was changed: the system refused, or has no such thing. A text function says why, and how to allow it.
     */
    OVERSLEEP_OUTCOME_DENIED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum oversleep_outcome oversleep_outcome;
#else
typedef int32_t oversleep_outcome;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What an idle turn did.
 */
enum oversleep_idled
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Something that this version of the interface has no name for.
     */
    OVERSLEEP_IDLED_OTHER = 0,
    /**
     * The processor's pause hint, some tens of nanoseconds.
     */
    OVERSLEEP_IDLED_SPUN = 1,
    /**
     * Another thread was let in, if one wanted to run.
     */
    OVERSLEEP_IDLED_YIELDED = 2,
    /**
     * The thread was parked.
     */
    OVERSLEEP_IDLED_PARKED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum oversleep_idled oversleep_idled;
#else
typedef int32_t oversleep_idled;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The settings that can be asked for. One that the system lacks is denied with that reason, so one request serves all
 * systems.
 */
enum oversleep_setting
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The thread's timer slack (Linux). It costs shared wake-ups.
     */
    OVERSLEEP_SETTING_TIMER_SLACK = 1,
    /**
     * The process's timer resolution (Windows). It costs power.
     */
    OVERSLEEP_SETTING_TIMER = 2,
    /**
     * The thread's scheduling policy: SCHED_FIFO on Linux, time-critical priority on Windows, time constraints on
     * macOS. Other threads wait.
     */
    OVERSLEEP_SETTING_REAL_TIME = 3,
    /**
     * The machine's limit on how long a processor takes to wake up: /dev/cpu_dma_latency on Linux. It costs power.
     */
    OVERSLEEP_SETTING_CPU_LATENCY = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum oversleep_setting oversleep_setting;
#else
typedef int32_t oversleep_setting;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a pacer does when the caller comes back after one or more whole periods have passed.
 */
enum oversleep_missed
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Late periods but the latest are left out and counted, and the grid stays as it is: for frames and polls, of which
     * only the present one matters. This is what a new pacer does.
     */
    OVERSLEEP_MISSED_SKIP = 0,
    /**
     * Every period is delivered, the late ones at once, one after the other: for work that must be done as often as
     * periods pass, such as producing samples.
     */
    OVERSLEEP_MISSED_CATCH_UP = 1,
    /**
     * The late period is delivered, and the grid starts anew from now, so that a whole period follows: for work that
     * needs time to recover. The loop falls behind by what was missed, which is counted.
     */
    OVERSLEEP_MISSED_DELAY = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum oversleep_missed oversleep_missed;
#else
typedef int32_t oversleep_missed;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * An idle strategy, spin, then yield, then park, that knows what parking costs on this machine.
 */
typedef struct oversleep_backoff oversleep_backoff;

/**
 * Runs a loop at a fixed rate. Deadlines lie on a grid, start + k * period, worked out in exact integers, so that
 * nothing accumulates.
 */
typedef struct oversleep_pacer oversleep_pacer;

/**
 * A request for finer timing, and what it holds.
 */
typedef struct oversleep_resolution oversleep_resolution;

/**
 * Sleeps, and learns how late this machine wakes a thread. It learns best when one thread uses it for one kind of
 * sleeps. It holds about 5 KiB.
 */
typedef struct oversleep_sleeper oversleep_sleeper;

/**
 * A thread that others can unpark. Any number of threads may use it at a time.
 */
typedef struct oversleep_thread oversleep_thread;

/**
 * Holds a thread's timer slack until it is released.
 */
typedef struct oversleep_timer_slack oversleep_timer_slack;

/**
 * How a sleep went.
 */
typedef struct {
    /**
     * How long after the deadline it ended, in nanoseconds.
     */
    uint64_t lateness_ns;
    /**
     * How long it spun towards the deadline, in nanoseconds.
     */
    uint64_t spun_ns;
    /**
     * How long before the deadline the operating system was asked to end the wait, in nanoseconds;
     * `OVERSLEEP_UNKNOWN_NS` when there was no wait, because the deadline was too close.
     */
    uint64_t margin_ns;
    /**
     * How late that wake-up came, in nanoseconds; `OVERSLEEP_UNKNOWN_NS` when none was asked for.
     */
    uint64_t wake_lateness_ns;
    /**
     * How long before the deadline the short waits for what that one left were to end; `OVERSLEEP_UNKNOWN_NS` where there
     * was none.
     */
    uint64_t approach_margin_ns[2];
    /**
     * How late the wake-ups from the short waits came; `OVERSLEEP_UNKNOWN_NS` where there was none.
     */
    uint64_t approach_lateness_ns[2];
    /**
     * What became of setting this thread's timer slack for the waits; `OVERSLEEP_OUTCOME_NOT_ASKED` when there was none.
     */
    oversleep_outcome slack;
    /**
     * Zero.
     */
    uint32_t reserved[5];
} oversleep_slept;

/**
 * A period that has come.
 */
typedef struct {
    /**
     * Which period this is, counted from the start; the first to be delivered is 1.
     */
    uint64_t period;
    /**
     * When it was due, in nanoseconds on the line of `oversleep_clock_now_ns`.
     */
    uint64_t deadline_ns;
    /**
     * How long after that it was delivered, in nanoseconds.
     */
    uint64_t lateness_ns;
    /**
     * Periods left out between the one delivered before and this one.
     */
    uint64_t missed;
    /**
     * Zero.
     */
    uint64_t reserved[2];
} oversleep_beat;

/**
 * How a back-off behaves. Start from `oversleep_backoff_default_limits`.
 */
typedef struct {
    /**
     * How many idle turns spin, before any yields.
     */
    uint32_t spins;
    /**
     * How many idle turns yield to other threads, before any parks.
     */
    uint32_t yields;
    /**
     * The first park that is asked for, in nanoseconds. Each further one is twice as long.
     */
    uint64_t park_ns;
    /**
     * How long a park may really take, lateness and all, in nanoseconds. On a machine where even the shortest takes
     * longer, the worker goes on yielding instead.
     */
    uint64_t absence_ns;
} oversleep_limits;

/**
 * An idle turn.
 */
typedef struct {
    /**
     * What it did.
     */
    oversleep_idled idled;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * For how long it asked to be parked, in nanoseconds; `OVERSLEEP_UNKNOWN_NS` when it did not.
     */
    uint64_t asked_ns;
    /**
     * How long it was away, in nanoseconds, less than asked when it was unparked; `OVERSLEEP_UNKNOWN_NS` when it was
     * not parked.
     */
    uint64_t took_ns;
} oversleep_idle_turn;

/**
 * What became of a change, with the values where they are times. A scheduling policy is not a time; the text names it.
 */
typedef struct {
    /**
     * What became of it.
     */
    oversleep_outcome outcome;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * The value before, in nanoseconds; `OVERSLEEP_UNKNOWN_NS` when it was denied or is not a time,
     * `OVERSLEEP_UNLIMITED_NS` when there was no limit.
     */
    uint64_t was_ns;
    /**
     * The value in effect, in the same terms.
     */
    uint64_t now_ns;
} oversleep_change;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The `OVERSLEEP_ABI_VERSION` that the library was built with; 0 after an internal failure.
 */
uint32_t oversleep_abi_version(void);

/**
 * What a status means, as a clause in English. Returns `OVERSLEEP_STATUS_INVALID_ARGUMENT` for a value this version
 * does not know.
 */
oversleep_status oversleep_status_text(int32_t status,
                                       char *text,
                                       size_t capacity,
                                       size_t *length);

/**
 * Now, in nanoseconds on the operating system's monotonic time line, by the cheapest exact reading. On Linux that line
 * is CLOCK_MONOTONIC: it counts from boot and stands still during suspend.
 *
 * Cost: a call, what reading the processor's counter costs, and about a nanosecond; with the operating system's clock,
 * what that costs. The first call of the process chooses the clock: about 0.3 ms, not in a signal handler, and before
 * a sandbox closes. Later calls may be made in signal handlers. Never goes back within one thread; to compare times
 * across threads take `oversleep_clock_now_ordered_ns`.
 *
 * `OVERSLEEP_CLOCK=os` in the environment, at first use, forces the operating system's clock.
 *
 * Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
 */
uint64_t oversleep_clock_now_ns(void);

/**
 * Now, in nanoseconds, read after every load that precedes the call: never below a time that another thread read with
 * this function before. Dearer than `oversleep_clock_now_ns` by a fence, about 10 ns.
 *
 * Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
 */
uint64_t oversleep_clock_now_ordered_ns(void);

/**
 * A past moment on the same time line, in nanoseconds, up to `oversleep_clock_coarse_step_ns` ago: the cheapest
 * reading. On Linux it reads CLOCK_MONOTONIC_COARSE, about a quarter of the cost of `oversleep_clock_now_ns`; elsewhere
 * it is the same as that.
 *
 * Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
 */
uint64_t oversleep_clock_coarse_ns(void);

/**
 * How far `oversleep_clock_coarse_ns` moves at a time, in nanoseconds: one timer tick, 1 to 10 ms, on Linux; elsewhere
 * 1 ns.
 *
 * Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
 */
uint64_t oversleep_clock_coarse_step_ns(void);

/**
 * Writes which clock is in use. Starts it, if this is the first use.
 */
oversleep_status oversleep_clock_source(oversleep_source *source);

/**
 * The short name of the clock in use: `tsc`, `cntvct` or `os`. Starts it, if this is the first use.
 */
oversleep_status oversleep_clock_source_name(char *text, size_t capacity, size_t *length);

/**
 * Which clock is in use, and which check each faster one failed, as a sentence in English. It is seldom longer than
 * 300 bytes.
 */
oversleep_status oversleep_clock_why(char *text,
                                     size_t capacity,
                                     size_t *length);

/**
 * Writes the measured frequency of the counter in use, in ticks per second; `OVERSLEEP_STATUS_NONE` when the operating
 * system's clock is in use.
 */
oversleep_status oversleep_clock_frequency_hz(uint64_t *hz);

/**
 * Checks the counter thoroughly, and takes it out of use when it fails: what the kernel thinks of it, its rate over
 * 100 ms, and every core against the first. Takes a little over 100 ms; nothing else in this library calls it.
 *
 * Writes, unless `drift_ppm` is NULL, by how many parts per million the counter ran ahead of the rate in use.
 * `OVERSLEEP_STATUS_REJECTED` when a check failed: `oversleep_clock_why` says which, and the operating system's clock
 * is used from then on.
 */
oversleep_status oversleep_clock_verify(double *drift_ppm);

/**
 * Sleeps for at least `duration_ns` nanoseconds, and as little longer as this machine allows, with a sleeper that
 * belongs to the calling thread. See `oversleep_sleep_until_ns`.
 */
oversleep_status oversleep_sleep_ns(uint64_t duration_ns);

/**
 * Sleeps until `deadline_ns`, a time of `oversleep_clock_now_ns`; never returns `OVERSLEEP_STATUS_OK` before it, and as
 * little after it as this machine allows. Signals do not end it. A deadline in the past returns at once.
 *
 * Cost: the operating system wakes the thread a learned margin before the deadline, up to thrice where that is more
 * exact, and the thread spins for what is left: usually about 16 microseconds, and no more than 64 where the system ends
 * short waits exactly; elsewhere no more than the median lateness, a sixteenth and 16 microseconds. A sleep of up to 80
 * microseconds that can't be waited for is spun. On Linux the thread's timer slack is 1 ns meanwhile; a signal handler
 * that jumps out of a sleep (siglongjmp) leaves it so. Where a sandbox refuses every wait, the thread yields in a loop.
 * Uses a sleeper that belongs to the calling thread: 5 KiB of thread-local storage in every thread of the process.
 */
oversleep_status oversleep_sleep_until_ns(uint64_t deadline_ns);

/**
 * Makes a sleeper that has learned nothing yet. Free it with `oversleep_sleeper_free`.
 */
oversleep_status oversleep_sleeper_new(oversleep_sleeper **sleeper);

/**
 * Changes how far the margin of what is spun reaches beyond the median lateness of wake-ups, from 16000 ns. With zero
 * half of the sleeps that are waited for end late by what the operating system's wake-ups vary; up to 8 microseconds are
 * spun all the same. What was learned stays.
 */
oversleep_status oversleep_sleeper_set_budget_ns(oversleep_sleeper *sleeper,
                                                 uint64_t budget_ns);

/**
 * Sleeps for at least `duration_ns` nanoseconds. Writes how it went, unless `slept` is NULL.
 */
oversleep_status oversleep_sleeper_sleep_ns(oversleep_sleeper *sleeper,
                                            uint64_t duration_ns,
                                            oversleep_slept *slept);

/**
 * Sleeps until `deadline_ns`, with the promises of `oversleep_sleep_until_ns`. Writes how it went, unless `slept` is
 * NULL.
 */
oversleep_status oversleep_sleeper_sleep_until_ns(oversleep_sleeper *sleeper,
                                                  uint64_t deadline_ns,
                                                  oversleep_slept *slept);

/**
 * Frees a sleeper. NULL is fine.
 */
oversleep_status oversleep_sleeper_free(oversleep_sleeper *sleeper);

/**
 * Makes a loop with a period of `period_ns` nanoseconds, 1 or more, that starts now: the first deadline is one period
 * away. Free it with `oversleep_pacer_free`.
 */
oversleep_status oversleep_pacer_new_every_ns(uint64_t period_ns,
                                              oversleep_pacer **pacer);

/**
 * Makes a loop that runs `rate` times a second, 1 to 10^9, exactly, also where a second can't be divided by it. It
 * starts now. Free it with `oversleep_pacer_free`.
 */
oversleep_status oversleep_pacer_new_per_second(uint32_t rate,
                                                oversleep_pacer **pacer);

/**
 * Moves the grid's start: two loops with the same start and period keep step. Periods are counted anew from it, the missed
 * ones, too, also in a loop that has run: the next to be delivered is period 1, or, where the start is past, what the policy
 * makes of those that are due already.
 */
oversleep_status oversleep_pacer_set_start_ns(oversleep_pacer *pacer,
                                              uint64_t start_ns);

/**
 * Chooses what happens to missed periods: an `oversleep_missed`.
 */
oversleep_status oversleep_pacer_set_missed(oversleep_pacer *pacer, int32_t policy);

/**
 * Changes how far the margin of what is spun reaches beyond the median lateness of wake-ups, from 16000 ns. What was
 * learned about waits is forgotten.
 */
oversleep_status oversleep_pacer_set_budget_ns(oversleep_pacer *pacer,
                                               uint64_t budget_ns);

/**
 * Waits for the next period, with the costs and promises of `oversleep_sleep_until_ns`; returns at once when it is due
 * already. Writes which period came, how late, and what was missed, unless `beat` is NULL.
 */
oversleep_status oversleep_pacer_wait(oversleep_pacer *pacer,
                                      oversleep_beat *beat);

/**
 * Delivers the next period if it is due already, as `oversleep_pacer_wait` does, without waiting:
 * `OVERSLEEP_STATUS_NONE` when it is not.
 */
oversleep_status oversleep_pacer_poll(oversleep_pacer *pacer, oversleep_beat *beat);

/**
 * Writes when the next period is due, in nanoseconds.
 */
oversleep_status oversleep_pacer_next_deadline_ns(const oversleep_pacer *pacer, uint64_t *deadline_ns);

/**
 * Writes when the given period is due, in nanoseconds. Periods are counted from the grid's start, which is period 0 and
 * never delivered.
 */
oversleep_status oversleep_pacer_deadline_of_ns(const oversleep_pacer *pacer,
                                                uint64_t period,
                                                uint64_t *deadline_ns);

/**
 * Writes how many periods were left out since the start. Together with the periods delivered they are those that have passed.
 */
oversleep_status oversleep_pacer_missed(const oversleep_pacer *pacer,
                                        uint64_t *missed);

/**
 * Frees a pacer. NULL is fine.
 */
oversleep_status oversleep_pacer_free(oversleep_pacer *pacer);

/**
 * Writes the default limits: 100 spins, 10 yields, then parks from 1 microsecond on that really take up to 1 ms.
 */
oversleep_status oversleep_backoff_default_limits(oversleep_limits *limits);

/**
 * Makes a back-off with these limits, or the default ones when `limits` is NULL. Free it with `oversleep_backoff_free`.
 */
oversleep_status oversleep_backoff_new(const oversleep_limits *limits,
                                       oversleep_backoff **backoff);

/**
 * There was no work: waits a little, the longer the more turns in a row there was none. Writes what it did, unless
 * `turn` is NULL. Another thread ends a park at once by `oversleep_thread_unpark`.
 */
oversleep_status oversleep_backoff_idle(oversleep_backoff *backoff,
                                        oversleep_idle_turn *turn);

/**
 * There was work: the next idle turn spins again. What was learned about parking stays.
 */
oversleep_status oversleep_backoff_reset(oversleep_backoff *backoff);

/**
 * Writes how much longer than asked a park takes here, in nanoseconds: the longest seen lately.
 * `OVERSLEEP_STATUS_NONE` before the first park.
 */
oversleep_status oversleep_backoff_park_lateness_ns(const oversleep_backoff *backoff, uint64_t *lateness_ns);

/**
 * Frees a back-off. NULL is fine.
 */
oversleep_status oversleep_backoff_free(oversleep_backoff *backoff);

/**
 * Makes a handle of the calling thread. Free it with `oversleep_thread_free`, which does not end the thread; the
 * thread may end before that.
 */
oversleep_status oversleep_thread_current(oversleep_thread **thread);

/**
 * Ends the thread's park in `oversleep_backoff_idle`, or keeps its next one from waiting. Memory written before this
 * call is seen by the thread after its park.
 */
oversleep_status oversleep_thread_unpark(const oversleep_thread *thread);

/**
 * Frees a thread's handle. NULL is fine.
 */
oversleep_status oversleep_thread_free(oversleep_thread *thread);

/**
 * Writes the calling thread's timer slack in nanoseconds: how much later than asked the kernel may end its waits. Zero
 * means that the thread runs under a real-time policy, which has no slack. One system call (Linux).
 *
 * `OVERSLEEP_STATUS_DENIED` where the system has no timer slack, or a sandbox forbids reading it;
 * `oversleep_timer_slack_why` says which.
 */
oversleep_status oversleep_timer_slack_current_ns(uint64_t *slack_ns);

/**
 * Why the timer slack can't be read here, and how to allow it; `OVERSLEEP_STATUS_NONE` where it can.
 */
oversleep_status oversleep_timer_slack_why(char *text, size_t capacity, size_t *length);

/**
 * Sets the calling thread's timer slack, exactly, until `oversleep_timer_slack_release`. The finest is 1 ns, and zero
 * is taken as that. Three system calls now, one on release (Linux). Threads and programs that this thread starts
 * meanwhile inherit it for good: it becomes their default, too.
 *
 * A denial is an outcome, not an error: the handle is made whatever happened, and `oversleep_timer_slack_change` says
 * what did. Handles of one thread must be released by it, in the reverse order of their making.
 */
oversleep_status oversleep_timer_slack_hold_ns(uint64_t slack_ns,
                                               oversleep_timer_slack **held);

/**
 * Writes what became of the request.
 */
oversleep_status oversleep_timer_slack_change(const oversleep_timer_slack *held, oversleep_change *change);

/**
 * What became of the request, as a sentence in English: the values, or why it was denied and how to allow it.
 */
oversleep_status oversleep_timer_slack_text(const oversleep_timer_slack *held,
                                            char *text,
                                            size_t capacity,
                                            size_t *length);

/**
 * Puts the former slack back and frees the handle. NULL is fine. `OVERSLEEP_STATUS_WRONG_THREAD`, and nothing happens,
 * in another thread than the one that made it.
 */
oversleep_status oversleep_timer_slack_release(oversleep_timer_slack *held);

/**
 * Makes an empty request. Nothing happens until `oversleep_resolution_hold`. Free it with `oversleep_resolution_free`.
 */
oversleep_status oversleep_resolution_new(oversleep_resolution **resolution);

/**
 * Asks for what needs no rights: a timer slack of 1 ns, and a timer resolution of 1 ms. On Windows the machine's timer
 * interrupt runs at 1 ms while it is held, about a thousand interrupts a second instead of 64, which costs power; and the
 * process is exempted from the power throttling that would drop the request while its windows are hidden (Windows 11).
 * Hold it while punctual waits matter.
 */
oversleep_status oversleep_resolution_ask_harmless(oversleep_resolution *resolution);

/**
 * Asks for this timer slack, in nanoseconds, in the thread that will hold the request. Zero is taken as 1 ns. Threads and
 * programs that it starts meanwhile inherit it for good.
 */
oversleep_status oversleep_resolution_ask_timer_slack_ns(oversleep_resolution *resolution,
                                                         uint64_t slack_ns);

/**
 * Asks for timer ticks at least every `period_ns` nanoseconds, for the process.
 */
oversleep_status oversleep_resolution_ask_timer_ns(oversleep_resolution *resolution, uint64_t period_ns);

/**
 * Asks that the thread that will hold the request runs before every ordinary one. `priority` is 1 to 99. On Linux
 * threads and programs that it starts meanwhile inherit that.
 */
oversleep_status oversleep_resolution_ask_real_time(oversleep_resolution *resolution,
                                                    int32_t priority);

/**
 * Asks that a sleeping processor wakes up within `latency_ns` nanoseconds, in whole microseconds; zero keeps it from
 * sleeping at all.
 */
oversleep_status oversleep_resolution_ask_cpu_latency_ns(oversleep_resolution *resolution,
                                                         uint64_t latency_ns);

/**
 * Makes every change that was asked for, each on its own: a denied one does not keep the others from happening, and is
 * an outcome, not an error. `oversleep_resolution_change` and `oversleep_resolution_text` say what became of each.
 *
 * What is asked for later takes effect with the next hold. `OVERSLEEP_STATUS_ALREADY_HELD` when it is held.
 */
oversleep_status oversleep_resolution_hold(oversleep_resolution *resolution);

/**
 * Writes what became of a setting (an `oversleep_setting`) at the latest hold: `OVERSLEEP_OUTCOME_NOT_ASKED` for one
 * that was not asked for, and before the first hold.
 */
oversleep_status oversleep_resolution_change(const oversleep_resolution *resolution,
                                             int32_t setting,
                                             oversleep_change *change);

/**
 * What became of a setting (an `oversleep_setting`) at the latest hold, as a sentence in English: its values, or why it
 * was denied and how to allow it. `OVERSLEEP_STATUS_NONE` for one that was not asked for.
 */
oversleep_status oversleep_resolution_text(const oversleep_resolution *resolution,
                                           int32_t setting,
                                           char *text,
                                           size_t capacity,
                                           size_t *length);

/**
 * Puts everything back. `OVERSLEEP_STATUS_NONE` when nothing is held; `OVERSLEEP_STATUS_WRONG_THREAD`, and nothing
 * happens, in another thread than the one that holds it. The request can be held again.
 */
oversleep_status oversleep_resolution_release(oversleep_resolution *resolution);

/**
 * Puts everything back, if it is held, and frees the request. NULL is fine. `OVERSLEEP_STATUS_WRONG_THREAD`, and
 * nothing happens, when another thread holds it.
 */
oversleep_status oversleep_resolution_free(oversleep_resolution *resolution);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* OVERSLEEP_H */
