// Waits and clocks as a Java program calls them. The protocol is in ../PROTOCOL.md.

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.util.Arrays;
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

public class Probe {
    static final long MILLI = 1_000_000;
    /** The JIT compiles a wait after some calls, and the first calls load classes. */
    static final int WARM_UP_WAITS = 50, WARM_UP_BATCHES = 30, READS = 1000;

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
    static volatile long sink;

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
                executor = Executors.newSingleThreadScheduledExecutor(Probe::daemon);
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

    static void emit(String record) {
        System.out.print("{" + record + "}\n");
        System.out.flush();
    }

    static String list(long[] values) {
        return Arrays.toString(values).replace(" ", "");
    }

    static String text(Object value) {
        return String.valueOf(value).replaceAll("[^ -~]|[\"\\\\]", "?");
    }

    static void skip(String op, Object why) {
        emit("\"type\":\"skip\",\"op\":\"" + text(op) + "\",\"why\":\"" + text(why) + "\"");
    }

    static void loop(Op op, long requested, long[] t, long[] d) throws Throwable {
        Wait wait = op.wait;
        for (int i = 0; i < d.length; i++) {
            long start = System.nanoTime();
            wait.of(requested);
            d[i] = System.nanoTime() - start;
            t[i] = start;
        }
    }

    static void runOn(boolean isVirtual, Op op, long requested, long[] t, long[] d) throws Throwable {
        if (!isVirtual) {
            loop(op, requested, t, d);
            return;
        }
        Throwable[] failed = new Throwable[1];
        Thread thread = (Thread) startVirtual().invokeExact((Runnable) () -> {
            try {
                loop(op, requested, t, d);
            } catch (Throwable error) {
                failed[0] = error;
            }
        });
        thread.join();
        if (failed[0] != null) {
            throw failed[0];
        }
    }

    static boolean isWarm;

    static void measureWait(String name, long requested, int count) throws Throwable {
        Op op = WAITS.get(name);
        if (!isWarm) {
            // Below a millisecond some calls return at once, so this ends soon everywhere.
            long[] unused = new long[WARM_UP_WAITS];
            runOn(op.isVirtual, op, name.startsWith("Object.wait") ? MILLI : MILLI / 10, unused, unused);
            isWarm = true;
        }
        long[] t = new long[count], d = new long[count];
        long collections = Collections.count(), cpu = cpu();
        runOn(op.isVirtual, op, requested, t, d);
        cpu = cpu() - cpu;
        emit("\"type\":\"s\",\"op\":\"" + name + "\",\"requested\":" + requested + ",\"rounded\":"
            + op.rounded.applyAsLong(requested) + ",\"n\":" + count + ",\"unit\":\"ns\",\"t\":" + list(t) + ",\"d\":"
            + list(d) + ",\"cpu\":" + cpu + ",\"gc\":" + (Collections.count() - collections));
    }

    static long cpu() {
        return ProcessHandle.current().info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
    }

    /** The collector's own beans take long to load, so the first collection is noticed by what it frees. */
    static final class Collections {
        static java.lang.ref.WeakReference<Object> canary = new java.lang.ref.WeakReference<>(new Object());
        static long seen;

        static long count() {
            if (canary.get() == null) {
                seen++;
                canary = new java.lang.ref.WeakReference<>(new Object());
            }
            return seen;
        }
    }

    static long batch(LongSupplier clock) {
        long start = System.nanoTime(), sum = 0;
        for (int k = 0; k < READS; k++) {
            sum += clock.getAsLong();
        }
        sink = sum;
        return System.nanoTime() - start;
    }

    static void measureClock(String name, int count) {
        LongSupplier clock = CLOCKS.get(name);
        for (int i = 0; i < WARM_UP_BATCHES; i++) {
            batch(clock);
        }
        long[] d = new long[count], step = new long[16];
        for (int i = 0; i < count; i++) {
            d[i] = batch(clock);
        }
        int steps = 0;
        long until = System.nanoTime() + 40 * MILLI, last = clock.getAsLong();
        while (steps < step.length && System.nanoTime() < until) {
            long next = clock.getAsLong();
            if (next > last) {
                step[steps++] = next - last;
            }
            last = next;
        }
        emit("\"type\":\"c\",\"op\":\"" + name + "\",\"n\":" + count + ",\"reads\":" + READS + ",\"d\":" + list(d)
            + ",\"step\":" + list(Arrays.copyOf(step, steps)));
    }

    /** What was published as a way to raise the timer resolution of Windows for a whole program. */
    static void with(String condition) throws Exception {
        if (condition.equals("sleeping-thread")) {
            daemon(() -> LockSupport.parkUntil(Long.MAX_VALUE)).start();
            daemon(() -> {
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException end) {
                    return;
                }
            }).start();
        } else if (condition.equals("midi-device")) {
            Class<?> midi = Class.forName("javax.sound.midi.MidiSystem");
            Object device = midi.getMethod("getSynthesizer").invoke(null);
            Class.forName("javax.sound.midi.MidiDevice").getMethod("open").invoke(device);
        } else {
            throw new IllegalArgumentException("no condition " + condition);
        }
    }

    static void list() {
        WAITS.keySet().forEach(op -> emit("\"type\":\"op\",\"op\":\"" + op + "\",\"kind\":\"wait\""));
        CLOCKS.keySet().forEach(op -> emit("\"type\":\"op\",\"op\":\"" + op + "\",\"kind\":\"clock\""));
    }

    static void run(String token) {
        int last = token.lastIndexOf('@'), first = token.lastIndexOf('@', last - 1);
        String op = token.substring(0, first);
        long requested = Long.parseLong(token.substring(first + 1, last));
        int count = Integer.parseInt(token.substring(last + 1));
        try {
            if (WAITS.containsKey(op)) {
                measureWait(op, requested, count);
            } else if (CLOCKS.containsKey(op)) {
                measureClock(op, count);
            } else {
                skip(op, "this JDK has no such call");
            }
        } catch (Throwable error) {
            skip(op, error);
        }
    }

    public static void main(String[] tokens) {
        String refused = null;
        for (String token : tokens) {
            try {
                if (token.startsWith("with=")) {
                    with(token.substring(5));
                }
            } catch (Exception | LinkageError error) {
                refused = token.substring(5) + ": " + (error.getCause() == null ? error : error.getCause());
            }
        }
        emit("\"type\":\"hello\",\"proto\":1,\"runtime\":\"java\",\"version\":\"" + text(System.getProperty("java.version"))
            + "\",\"clock\":\"System.nanoTime\",\"pid\":" + ProcessHandle.current().pid() + ",\"now\":" + System.nanoTime());
        for (String token : tokens) {
            if (token.equals("list")) {
                list();
            } else if (!token.startsWith("with=")) {
                if (refused == null) {
                    run(token);
                } else {
                    skip(token.substring(0, token.indexOf('@')), refused);
                }
            }
        }
        emit("\"type\":\"end\",\"now\":" + System.nanoTime());
        System.exit(0);
    }
}
