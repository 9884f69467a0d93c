package oversleep;

import static oversleep.Native.INT;
import static oversleep.Native.LONG;
import static oversleep.Native.POINTER;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Finer timing from the system, until it is closed. Request first, then {@link #hold()}. Close it in the thread that
 * holds it, which must be a platform thread: a virtual one may change its carrier.
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

    private static final MethodHandle NEW = Native.function("oversleep_resolution_new", INT, POINTER);
    private static final MethodHandle HARMLESS = Native.function("oversleep_resolution_ask_harmless", INT, POINTER);
    private static final MethodHandle SLACK =
            Native.function("oversleep_resolution_ask_timer_slack_ns", INT, POINTER, LONG);
    private static final MethodHandle TIMER = Native.function("oversleep_resolution_ask_timer_ns", INT, POINTER, LONG);
    private static final MethodHandle REAL_TIME =
            Native.function("oversleep_resolution_ask_real_time", INT, POINTER, INT);
    private static final MethodHandle CPU_LATENCY =
            Native.function("oversleep_resolution_ask_cpu_latency_ns", INT, POINTER, LONG);
    private static final MethodHandle SLICE =
            Native.function("oversleep_resolution_ask_time_slice_ns", INT, POINTER, LONG);
    private static final MethodHandle MULTIMEDIA = Native.function("oversleep_resolution_ask_multimedia", INT, POINTER);
    private static final MethodHandle HOLD = Native.function("oversleep_resolution_hold", INT, POINTER);
    private static final MethodHandle TEXT =
            Native.function("oversleep_resolution_text", INT, POINTER, INT, POINTER, LONG, POINTER);
    private static final MethodHandle FREE = Native.function("oversleep_resolution_free", INT, POINTER);

    private MemorySegment handle = Native.created(place -> () -> NEW.invoke(place));

    /** Requests what is harmless everywhere. */
    public Resolution harmless() {
        Native.status(() -> HARMLESS.invoke(alive()));
        return this;
    }

    /** Requests this timer slack for the thread. */
    public Resolution timerSlackNs(long slackNs) {
        Native.status(() -> SLACK.invoke(alive(), slackNs));
        return this;
    }

    /** Requests this timer resolution. */
    public Resolution timerNs(long periodNs) {
        Native.status(() -> TIMER.invoke(alive(), periodNs));
        return this;
    }

    /** Requests that the thread run ahead of every ordinary one, with a priority of 1 to 99. */
    public Resolution realTime(int priority) {
        Native.status(() -> REAL_TIME.invoke(alive(), priority));
        return this;
    }

    /** Requests that an idle processor wake up within this time. */
    public Resolution cpuLatencyNs(long latencyNs) {
        Native.status(() -> CPU_LATENCY.invoke(alive(), latencyNs));
        return this;
    }

    /**
     * Requests this time slice for the thread, 100 µs to 100 ms. With a short one, a thread that wakes up runs at once
     * beside busy threads. It needs no privilege.
     */
    public Resolution timeSliceNs(long sliceNs) {
        Native.status(() -> SLICE.invoke(alive(), sliceNs));
        return this;
    }

    /** Requests the multimedia class for the thread. */
    public Resolution multimedia() {
        Native.status(() -> MULTIMEDIA.invoke(alive()));
        return this;
    }

    /** Holds what was requested. */
    public Resolution hold() {
        Native.status(() -> HOLD.invoke(alive()));
        return this;
    }

    /** What came of the request, as a sentence; empty if it wasn't requested. */
    public String outcome(Setting setting) {
        int number = setting.ordinal() + FIRST_SETTING;
        return Native.text((buffer, capacity, length) -> TEXT.invoke(alive(), number, buffer, capacity, length));
    }

    private static final int FIRST_SETTING = 1;

    private MemorySegment alive() {
        if (handle == null) {
            throw new IllegalStateException("this resolution is closed");
        }
        return handle;
    }

    @Override
    public void close() {
        if (handle != null) {
            Native.status(() -> FREE.invoke(handle));
            handle = null;
        }
    }
}
