package oversleep;

import java.time.Duration;

/**
 * Sleeps that end on time, and the fastest clock that is valid here. Before Java 22, every method throws
 * {@link UnsupportedOperationException}.
 */
public final class Oversleep {
    private Oversleep() {}

    /** Nanoseconds on the system's monotonic time line, never less than an earlier call returned in any thread. */
    public static long monotonicNs() {
        return Library.calls().clockNowNs();
    }

    /**
     * Sleeps until {@link #monotonicNs()} is at least this: never less, and as little more as this machine allows. A
     * deadline that has passed, such as a negative one, ends it at once. {@link Thread#interrupt()} doesn't end it. A
     * virtual thread keeps its carrier meanwhile.
     */
    public static void sleepUntil(long deadlineNs) {
        Library.calls().sleepUntilNs(Math.max(deadlineNs, 0));
    }

    /** Sleeps for at least this long; see {@link #sleepUntil}. */
    public static void sleep(Duration duration) {
        sleepUntil(deadlineNs(duration));
    }

    /** Which clock is read, and why no faster one. */
    public static String clock() {
        return Library.calls().clockWhy();
    }

    /** Now and this duration; the last time that there is, in 292 years, if it is longer. */
    static long deadlineNs(Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException("a wait can't be negative: " + duration);
        }
        long nowNs = monotonicNs();
        Duration longest = Duration.ofNanos(Long.MAX_VALUE - nowNs);
        return duration.compareTo(longest) < 0 ? nowNs + duration.toNanos() : Long.MAX_VALUE;
    }
}
