// The waits and clocks of Java, as a program calls them.

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;

final class Calls {
    static final long MILLI = 1_000_000;

    interface Wait {
        void of(long ns) throws Throwable;
    }

    /** A wait, what it is given for a request, and whether a virtual thread calls it. */
    static final class Op {
        final Wait wait;
        final LongUnaryOperator rounded;
        final boolean isVirtual;

        Op(Wait wait, LongUnaryOperator rounded, boolean isVirtual) {
            this.wait = wait;
            this.rounded = rounded;
            this.isVirtual = isVirtual;
        }
    }

    static final LongUnaryOperator EXACT = ns -> ns;
    /** What TimeUnit.toMillis and Duration.toMillis do. */
    static final LongUnaryOperator TO_MILLIS = ns -> ns / MILLI * MILLI;

    static final Map<String, Op> WAITS = new LinkedHashMap<>();
    static final Map<String, LongSupplier> CLOCKS = new LinkedHashMap<>();
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static final Condition NEVER = LOCK.newCondition();
    static final LinkedBlockingQueue<Object> EMPTY = new LinkedBlockingQueue<>();
    static ScheduledExecutorService executor;

    static void wait(String name, LongUnaryOperator rounded, Wait wait) {
        WAITS.put(name, new Op(wait, rounded, false));
    }

    static {
        wait("Thread.sleep(ms)", TO_MILLIS, ns -> Thread.sleep(ns / MILLI));
        wait("Thread.sleep(ms,ns)", EXACT, ns -> Thread.sleep(ns / MILLI, (int) (ns % MILLI)));
        wait("LockSupport.parkNanos", EXACT, ns -> LockSupport.parkNanos(ns));
        wait("LockSupport.parkUntil", TO_MILLIS, ns -> LockSupport.parkUntil(System.currentTimeMillis() + ns / MILLI));
        wait("Condition.awaitNanos", EXACT, ns -> {
            LOCK.lock();
            try {
                NEVER.awaitNanos(ns);
            } finally {
                LOCK.unlock();
            }
        });
        wait("Object.wait(ms)", TO_MILLIS, ns -> {
            synchronized (MONITOR) {
                MONITOR.wait(ns / MILLI);
            }
        });
        wait("Object.wait(ms,ns)", EXACT, ns -> {
            synchronized (MONITOR) {
                MONITOR.wait(ns / MILLI, (int) (ns % MILLI));
            }
        });
        wait("BlockingQueue.poll", EXACT, ns -> EMPTY.poll(ns, TimeUnit.NANOSECONDS));
        wait("ScheduledExecutorService.schedule", EXACT, ns -> {
            if (executor == null) {
                executor = Executors.newSingleThreadScheduledExecutor(Calls::daemon);
            }
            executor.schedule(() -> { }, ns, TimeUnit.NANOSECONDS).get();
        });
        MethodHandle sleep = since19(Thread.class, "sleep", MethodType.methodType(void.class, Duration.class));
        if (sleep != null) {
            wait("Thread.sleep(Duration)", EXACT, ns -> {
                sleep.invokeExact(Duration.ofNanos(ns));
            });
        }
        if (startVirtual() != null && sleep != null) {
            WAITS.put("virtual.Thread.sleep", new Op(WAITS.get("Thread.sleep(Duration)").wait, EXACT, true));
            WAITS.put("virtual.LockSupport.parkNanos", new Op(ns -> LockSupport.parkNanos(ns), EXACT, true));
        }
        CLOCKS.put("System.nanoTime", System::nanoTime);
        CLOCKS.put("System.currentTimeMillis", () -> System.currentTimeMillis() * MILLI);
        CLOCKS.put("Instant.now", () -> {
            Instant now = Instant.now();
            return now.getEpochSecond() * 1_000_000_000L + now.getNano();
        });
        CLOCKS.put("LocalTime.now", () -> LocalTime.now().toNanoOfDay());
    }

    static Thread daemon(Runnable body) {
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        return thread;
    }

    static MethodHandle since19(Class<?> owner, String name, MethodType type) {
        try {
            return MethodHandles.lookup().findStatic(owner, name, type);
        } catch (ReflectiveOperationException missing) {
            return null;
        }
    }

    static MethodHandle startVirtual() {
        return since19(Thread.class, "startVirtualThread", MethodType.methodType(Thread.class, Runnable.class));
    }

    private Calls() { }
}
