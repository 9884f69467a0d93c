package oversleep;

import static oversleep.Native.INT;
import static oversleep.Native.LONG;
import static oversleep.Native.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.time.Duration;

/**
 * Parks one thread at a time until another one unparks it, or until an exact deadline. There are no spurious wake-ups,
 * and {@link Thread#interrupt()} doesn't end a park. Close it when no thread will use it any more.
 */
public final class Parker implements AutoCloseable {
    private static final MethodHandle NEW = Native.function("oversleep_parker_new", INT, POINTER);
    private static final MethodHandle PARK = Native.function("oversleep_parker_park", INT, POINTER);
    private static final MethodHandle PARK_UNTIL =
            Native.function("oversleep_parker_park_until_ns", INT, POINTER, LONG, POINTER);
    private static final MethodHandle UNPARK = Native.function("oversleep_parker_unpark", INT, POINTER);
    private static final MethodHandle FREE = Native.function("oversleep_parker_free", INT, POINTER);

    private final MemorySegment handle = Native.created(place -> () -> NEW.invoke(place));
    private volatile boolean isClosed;

    /** Parks until another thread unparks this parker. */
    public void park() {
        Native.status(() -> PARK.invoke(alive()));
    }

    /**
     * Parks until another thread unparks this parker, or until {@link Oversleep#monotonicNs()} is at least this.
     *
     * @return whether another thread ended it
     */
    public boolean parkUntil(long deadlineNs) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment woken = arena.allocate(16, 8);
            woken.set(LONG, 0, 16);
            Native.status(() -> PARK_UNTIL.invoke(alive(), deadlineNs, woken));
            return woken.get(LONG, 8) == Native.UNKNOWN_NS;
        }
    }

    /**
     * Parks until another thread unparks this parker, or for this long.
     *
     * @return whether another thread ended it
     */
    public boolean park(Duration timeout) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("a park can't be negative: " + timeout);
        }
        return parkUntil(Oversleep.monotonicNs() + timeout.toNanos());
    }

    /** Ends the park, or the next one at once. Any thread may call it. */
    public void unpark() {
        Native.status(() -> UNPARK.invoke(alive()));
    }

    private MemorySegment alive() {
        if (isClosed) {
            throw new IllegalStateException("this parker is closed");
        }
        return handle;
    }

    @Override
    public void close() {
        if (!isClosed) {
            Native.status(() -> FREE.invoke(handle));
            isClosed = true;
        }
    }
}
