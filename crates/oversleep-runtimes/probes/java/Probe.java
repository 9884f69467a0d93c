// Waits and clocks as a Java program calls them, timed. The protocol is in ../PROTOCOL.md; Calls.java has the calls.

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

public class Probe {
    static final long MILLI = Calls.MILLI;
    /** The JIT compiles a wait after some calls, and the first calls load classes. */
    static final int WARM_UP_WAITS = 50, WARM_UP_BATCHES = 30, WARM_UP_RECORDS = 20, READS = 1000;

    static volatile long sink;

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

    static void loop(Calls.Op op, long requested, long[] t, long[] d) throws Throwable {
        Calls.Wait wait = op.wait;
        for (int i = 0; i < d.length; i++) {
            long start = System.nanoTime();
            wait.of(requested);
            d[i] = System.nanoTime() - start;
            t[i] = start;
        }
    }

    static void runOn(boolean isVirtual, Calls.Op op, long requested, long[] t, long[] d) throws Throwable {
        if (!isVirtual) {
            loop(op, requested, t, d);
            return;
        }
        Throwable[] failed = new Throwable[1];
        Thread thread = (Thread) Calls.startVirtual().invokeExact((Runnable) () -> {
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

    static String samples(String name, Calls.Op op, long requested, long[] t, long[] d, long cpu, long collections) {
        return "\"type\":\"s\",\"op\":\"" + name + "\",\"requested\":" + requested + ",\"rounded\":"
            + op.rounded.applyAsLong(requested) + ",\"n\":" + d.length + ",\"unit\":\"ns\",\"t\":" + list(t) + ",\"d\":"
            + list(d) + ",\"cpu\":" + cpu + ",\"gc\":" + collections;
    }

    static boolean isWarm;

    static void measureWait(String name, long requested, int count) throws Throwable {
        Calls.Op op = Calls.WAITS.get(name);
        if (!isWarm) {
            // Below a millisecond some calls return at once, so this ends soon everywhere.
            long[] unused = new long[WARM_UP_WAITS];
            runOn(op.isVirtual, op, name.startsWith("Object.wait") ? MILLI : MILLI / 10, unused, unused);
            // The first records take long to put together, and would come late.
            for (int i = 0; i < WARM_UP_RECORDS; i++) {
                sink = samples(name, op, requested, unused, unused, cpu(), Collections.count()).length();
            }
            isWarm = true;
        }
        long[] t = new long[count], d = new long[count];
        long collections = Collections.count(), cpu = cpu();
        runOn(op.isVirtual, op, requested, t, d);
        cpu = cpu() - cpu;
        emit(samples(name, op, requested, t, d, cpu, Collections.count() - collections));
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
        LongSupplier clock = Calls.CLOCKS.get(name);
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
            Calls.daemon(() -> LockSupport.parkUntil(Long.MAX_VALUE)).start();
            Calls.daemon(() -> {
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
        Calls.WAITS.keySet().forEach(op -> emit("\"type\":\"op\",\"op\":\"" + op + "\",\"kind\":\"wait\""));
        Calls.CLOCKS.keySet().forEach(op -> emit("\"type\":\"op\",\"op\":\"" + op + "\",\"kind\":\"clock\""));
    }

    static void run(String token) {
        int last = token.lastIndexOf('@'), first = token.lastIndexOf('@', last - 1);
        String op = token.substring(0, first);
        long requested = Long.parseLong(token.substring(first + 1, last));
        int count = Integer.parseInt(token.substring(last + 1));
        try {
            if (Calls.WAITS.containsKey(op)) {
                measureWait(op, requested, count);
            } else if (Calls.CLOCKS.containsKey(op)) {
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
