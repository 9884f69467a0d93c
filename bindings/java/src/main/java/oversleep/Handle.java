package oversleep;

import java.util.function.LongConsumer;

/**
 * A pointer of the C library that is freed once: by {@link #close()}, or by the last thread that still uses it then.
 * Whatever threads do, no function gets a pointer that was freed.
 */
final class Handle {
    /** What it points to, for messages. */
    private final String name;

    private final long pointer;
    private final LongConsumer free;
    /** Ends a use that may last; null if nothing does, and then one thread uses the pointer at a time. */
    private final LongConsumer wake;

    private int users;
    private boolean isClosed;

    private Handle(String name, long pointer, LongConsumer free, LongConsumer wake) {
        this.name = name;
        this.pointer = pointer;
        this.free = free;
        this.wake = wake;
    }

    /** A pointer that several threads may use at the same time. */
    static Handle shared(String name, long pointer, LongConsumer free, LongConsumer wake) {
        return new Handle(name, pointer, free, wake);
    }

    /** A pointer that one thread uses at a time; a second one is refused. */
    static Handle exclusive(String name, long pointer, LongConsumer free) {
        return new Handle(name, pointer, free, null);
    }

    /** The pointer, which stays valid until {@link #leave()}. */
    synchronized long enter() {
        if (isClosed) {
            throw closed();
        }
        if (wake == null && users > 0) {
            throw new IllegalStateException("another thread uses this " + name + "; use one for each thread");
        }
        users++;
        return pointer;
    }

    synchronized void leave() {
        users--;
        if (isClosed) {
            wakeOrFree();
        }
    }

    /** Refuses every later use. It never waits. */
    synchronized void close() {
        if (!isClosed) {
            isClosed = true;
            wakeOrFree();
        }
    }

    synchronized boolean isClosed() {
        return isClosed;
    }

    IllegalStateException closed() {
        return new IllegalStateException("this " + name + " is closed");
    }

    /** A wake-up ends the use of one thread, which wakes the next one as it leaves. */
    private void wakeOrFree() {
        if (users == 0) {
            free.accept(pointer);
        } else if (wake != null) {
            wake.accept(pointer);
        }
    }
}
