package oversleep;

/**
 * Finer timing from the system, until it is closed. Request first, then {@link #hold()}.
 *
 * <p>Close it in the thread that holds it: settings of a thread can only be restored there, so another thread gets an
 * {@link IllegalStateException}, and nothing changes. That thread must be a platform thread, because a virtual one may
 * change its carrier.
 */
public final class Resolution implements AutoCloseable {
    /** What can be requested. */
    public enum Setting {
        /** The timer slack of the thread (Linux). */
        TIMER_SLACK,
        /** The timer resolution (Windows). */
        TIMER,
        /** Real-time scheduling of the thread. */
        REAL_TIME,
        /** A limit on the wake-up latency of the processors (Linux). */
        CPU_LATENCY,
        /** The time slice of the thread (Linux 6.12 and later). */
        TIME_SLICE,
        /** The multimedia class of the thread (Windows). */
        MULTIMEDIA
    }

    private static final int FIRST_SETTING = 1;

    private final Calls calls = Library.calls();
    /** 0 when it is closed. */
    private long pointer = calls.newResolution();

    /** Requests what is harmless everywhere. */
    public synchronized Resolution harmless() {
        calls.requestHarmless(alive());
        return this;
    }

    /** Requests this timer slack for the thread. */
    public synchronized Resolution timerSlackNs(long slackNs) {
        calls.requestTimerSlackNs(alive(), notNegative(slackNs));
        return this;
    }

    /** Requests this timer resolution. */
    public synchronized Resolution timerNs(long periodNs) {
        calls.requestTimerNs(alive(), notNegative(periodNs));
        return this;
    }

    /** Requests that the thread run ahead of every ordinary one, with a priority of 1 to 99. */
    public synchronized Resolution realTime(int priority) {
        if (priority < 1 || priority > 99) {
            throw new IllegalArgumentException("a real-time priority is 1 to 99, not " + priority);
        }
        calls.requestRealTime(alive(), priority);
        return this;
    }

    /** Requests that an idle processor wake up within this time. */
    public synchronized Resolution cpuLatencyNs(long latencyNs) {
        calls.requestCpuLatencyNs(alive(), notNegative(latencyNs));
        return this;
    }

    /**
     * Requests this time slice for the thread, 100 µs to 100 ms. With a short one, a thread that wakes up runs at once
     * beside busy threads. It needs no privilege.
     */
    public synchronized Resolution timeSliceNs(long sliceNs) {
        calls.requestTimeSliceNs(alive(), notNegative(sliceNs));
        return this;
    }

    /** Requests the multimedia class for the thread. */
    public synchronized Resolution multimedia() {
        calls.requestMultimedia(alive());
        return this;
    }

    /** Holds what was requested, in this thread. A virtual thread gets an {@link IllegalStateException}. */
    public synchronized Resolution hold() {
        calls.hold(alive());
        return this;
    }

    /** What came of the request, as a sentence; empty if it wasn't requested. */
    public synchronized String outcome(Setting setting) {
        return calls.outcome(alive(), setting.ordinal() + FIRST_SETTING);
    }

    private long alive() {
        if (pointer == 0) {
            throw new IllegalStateException("this resolution is closed");
        }
        return pointer;
    }

    private static long notNegative(long ns) {
        if (ns < 0) {
            throw new IllegalArgumentException("a time can't be negative: " + ns + " ns");
        }
        return ns;
    }

    /** Restores what is held. In another thread than the one that holds it, it throws and changes nothing. */
    @Override
    public synchronized void close() {
        long closing = pointer;
        if (closing != 0) {
            pointer = 0;
            try {
                calls.freeResolution(closing);
            } catch (IllegalStateException refused) {
                pointer = closing;
                throw refused;
            }
        }
    }
}
