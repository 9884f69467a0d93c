package oversleep;

import static oversleep.Native.INT;
import static oversleep.Native.LONG;
import static oversleep.Native.POINTER;

import java.lang.invoke.MethodHandle;
import java.time.Duration;

/** Sleeps that end on time, and the fastest clock that is valid here. */
public final class Oversleep {
    private static final MethodHandle NOW = Native.function("oversleep_clock_now_ordered_ns", LONG);
    private static final MethodHandle SLEEP_UNTIL = Native.function("oversleep_sleep_until_ns", INT, LONG);
    private static final MethodHandle WHY = Native.function("oversleep_clock_why", INT, POINTER, LONG, POINTER);

    private Oversleep() {}

    /** Nanoseconds on the system's monotonic time line, never less than an earlier call returned in any thread. */
    public static long monotonicNs() {
        return (long) Native.called(() -> (long) NOW.invokeExact());
    }

    /**
     * Sleeps until {@link #monotonicNs()} is at least this: never less, and as little more as this machine allows.
     * {@link Thread#interrupt()} doesn't end it. A virtual thread keeps its carrier meanwhile.
     */
    public static void sleepUntil(long deadlineNs) {
        Native.status(() -> (int) SLEEP_UNTIL.invokeExact(deadlineNs));
    }

    /** Sleeps for at least this long; see {@link #sleepUntil}. */
    public static void sleep(Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException("a sleep can't be negative: " + duration);
        }
        sleepUntil(monotonicNs() + duration.toNanos());
    }

    /** Which clock is read, and why no faster one. */
    public static String clock() {
        return Native.text((buffer, capacity, length) -> WHY.invoke(buffer, capacity, length));
    }
}
