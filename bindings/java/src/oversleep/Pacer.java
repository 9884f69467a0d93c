package oversleep;

import static oversleep.Native.INT;
import static oversleep.Native.LONG;
import static oversleep.Native.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** A loop at a fixed rate, on absolute deadlines. One thread uses it at a time; a second one is refused. */
public final class Pacer implements AutoCloseable {
    /** What happens to whole periods that passed before the pacer was called again. */
    public enum Missed {
        /** Only the latest is delivered; the others are counted. */
        SKIP,
        /** Every one is delivered. */
        CATCH_UP,
        /** The late one is delivered, and the grid begins again from now. */
        DELAY
    }

    private static final MethodHandle PER_SECOND =
            Native.function("oversleep_pacer_new_per_second", INT, INT, POINTER);
    private static final MethodHandle EVERY = Native.function("oversleep_pacer_new_every_ns", INT, LONG, POINTER);
    private static final MethodHandle SET_MISSED = Native.function("oversleep_pacer_set_missed", INT, POINTER, INT);
    private static final MethodHandle WAIT = Native.function("oversleep_pacer_wait", INT, POINTER, POINTER);
    private static final MethodHandle FREE = Native.function("oversleep_pacer_free", INT, POINTER);
    /** size, period, deadline, lateness, missed: 8 bytes each. */
    private static final long BEAT_BYTES = 40;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment beat = arena.allocate(BEAT_BYTES, 8);
    private MemorySegment handle;

    private Pacer(MemorySegment handle) {
        this.handle = handle;
        beat.set(LONG, 0, BEAT_BYTES);
    }

    /** A loop that runs exactly this often, 1 to 10⁹ times a second, from now on. */
    public static Pacer perSecond(int rate) {
        return new Pacer(Native.created(place -> () -> PER_SECOND.invoke(rate, place)));
    }

    /** A loop with this period in nanoseconds, at least 1, from now on. */
    public static Pacer everyNs(long periodNs) {
        return new Pacer(Native.created(place -> () -> EVERY.invoke(periodNs, place)));
    }

    /** Sets what happens to missed periods. The default is {@link Missed#SKIP}. */
    public Pacer onMissed(Missed policy) {
        Native.status(() -> SET_MISSED.invoke(alive(), policy.ordinal()));
        return this;
    }

    /** Waits for the next period. */
    public synchronized Beat await() {
        Native.status(() -> WAIT.invoke(alive(), beat));
        return new Beat(beat.get(LONG, 8), beat.get(LONG, 16), beat.get(LONG, 24), beat.get(LONG, 32));
    }

    private MemorySegment alive() {
        if (handle == null) {
            throw new IllegalStateException("this pacer is closed");
        }
        return handle;
    }

    @Override
    public synchronized void close() {
        if (handle != null) {
            Native.status(() -> FREE.invoke(handle));
            handle = null;
            arena.close();
        }
    }
}
