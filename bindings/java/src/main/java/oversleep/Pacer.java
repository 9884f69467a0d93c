package oversleep;

/**
 * A loop at a fixed rate, on absolute deadlines. One thread uses it at a time; a second one gets an
 * {@link IllegalStateException}. Any thread may close it at any time: a thread that waits then still gets its period, and
 * every later use throws {@link IllegalStateException}.
 */
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

    private final Handle handle;

    private Pacer(long pointer) {
        handle = Handle.exclusive("pacer", pointer, Library.calls()::freePacer);
    }

    /** A loop that runs exactly this often, 1 to 10⁹ times a second, from now on. */
    public static Pacer perSecond(int rate) {
        if (rate < 1 || rate > 1_000_000_000) {
            throw new IllegalArgumentException("a rate is 1 to 10⁹ per second, not " + rate);
        }
        return new Pacer(Library.calls().newPacerPerSecond(rate));
    }

    /** A loop with this period in nanoseconds, at least 1, from now on. */
    public static Pacer everyNs(long periodNs) {
        if (periodNs < 1) {
            throw new IllegalArgumentException("a period is at least 1 ns, not " + periodNs);
        }
        return new Pacer(Library.calls().newPacerEveryNs(periodNs));
    }

    /** Sets what happens to missed periods. The default is {@link Missed#SKIP}. */
    public Pacer onMissed(Missed policy) {
        int number = policy.ordinal();
        long pointer = handle.enter();
        try {
            Library.calls().setMissed(pointer, number);
        } finally {
            handle.leave();
        }
        return this;
    }

    /** Waits for the next period. */
    public Beat await() {
        long pointer = handle.enter();
        try {
            return Library.calls().awaitBeat(pointer);
        } finally {
            handle.leave();
        }
    }

    /** Ends its use. It doesn't wait for a thread that waits for a period. */
    @Override
    public void close() {
        handle.close();
    }
}
