package oversleep;

import java.time.Duration;

/**
 * Parks one thread at a time until another one unparks it, or until an exact deadline; a second thread that parks gets an
 * {@link IllegalStateException}. There are no spurious wake-ups, and {@link Thread#interrupt()} doesn't end a park.
 *
 * <p>Any thread may close it at any time. That ends a park, which then throws {@link IllegalStateException} as every later
 * use does.
 */
public final class Parker implements AutoCloseable {
    private final Handle handle;

    /** A parker that nobody has unparked yet. */
    public Parker() {
        Calls calls = Library.calls();
        handle = Handle.shared("parker", calls.newParker(), calls::freeParker, calls::unpark);
    }

    /** Parks until another thread unparks this parker. */
    public void park() {
        long pointer = handle.enter();
        try {
            Library.calls().park(pointer);
        } finally {
            handle.leave();
        }
        refuseClosed();
    }

    /**
     * Parks until another thread unparks this parker, or until {@link Oversleep#monotonicNs()} is at least this.
     *
     * @return whether another thread ended it
     */
    public boolean parkUntil(long deadlineNs) {
        long latenessNs;
        long pointer = handle.enter();
        try {
            latenessNs = Library.calls().parkUntilNs(pointer, Math.max(deadlineNs, 0));
        } finally {
            handle.leave();
        }
        refuseClosed();
        return latenessNs == Calls.UNKNOWN_NS;
    }

    /**
     * Parks until another thread unparks this parker, or for this long.
     *
     * @return whether another thread ended it
     */
    public boolean park(Duration timeout) {
        return parkUntil(Oversleep.deadlineNs(timeout));
    }

    /** Ends the park, or the next one at once. Any thread may call it. */
    public void unpark() {
        long pointer = handle.enter();
        try {
            Library.calls().unpark(pointer);
        } finally {
            handle.leave();
        }
    }

    private void refuseClosed() {
        if (handle.isClosed()) {
            throw handle.closed();
        }
    }

    /** Ends its use, and the park of a thread that is parked. It doesn't wait for that thread. */
    @Override
    public void close() {
        handle.close();
    }
}
