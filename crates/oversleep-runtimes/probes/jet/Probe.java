// A streaming engine at work: items per second flat out, and the latency of items that are due at fixed times.
// The protocol is in ../PROTOCOL.md; Engine.java stands for the engine's version.

import com.hazelcast.config.NetworkConfig;
import com.hazelcast.jet.Job;
import com.hazelcast.jet.aggregate.AggregateOperations;
import com.hazelcast.jet.datamodel.WindowResult;
import com.hazelcast.jet.pipeline.Pipeline;
import com.hazelcast.jet.pipeline.SinkBuilder;
import com.hazelcast.jet.pipeline.SourceBuilder;
import com.hazelcast.jet.pipeline.SourceBuilder.SourceBuffer;
import com.hazelcast.jet.pipeline.WindowDefinition;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

public class Probe {
    static final long MILLI = 1_000_000, SECOND = 1_000_000_000;
    /** The JIT compiler has compiled the pipeline after so long. */
    static final long WARM_UP = 3 * SECOND;
    static final String FLAT_OUT = "flat-out", PACED = "paced";

    /** Windows that the pipeline has counted. */
    static final LinkedBlockingQueue<WindowResult<Long>> COUNTED = new LinkedBlockingQueue<>();

    /** Items that are due one period apart, from the source's first turn on, and when each arrived. */
    static final class Schedule {
        final long period;
        /** When each arrived, first those that warm the pipeline up. */
        final long[] arrived;
        final CountDownLatch hasBegun = new CountDownLatch(1), allArrived = new CountDownLatch(1);
        long first;
        int sent, received;

        Schedule(long period, int count) {
            this.period = period;
            this.arrived = new long[count];
        }

        long due(int number) {
            return first + number * period;
        }

        /** Adds the items that are due by now. Only the source calls it. */
        void fill(SourceBuffer<Integer> buffer) {
            long now = System.nanoTime();
            if (hasBegun.getCount() > 0) {
                first = now;
                hasBegun.countDown();
            }
            while (sent < arrived.length && due(sent) - now <= 0) {
                buffer.add(sent++);
            }
        }

        /** Only the sink calls it. */
        void receive(int number) {
            arrived[number] = System.nanoTime();
            if (++received == arrived.length) {
                allArrived.countDown();
            }
        }
    }

    /** Of the step that runs; an engine creates its sources and sinks itself. */
    static volatile Schedule schedule;

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

    static long cpu() {
        return ProcessHandle.current().info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
    }

    /** The published pipeline: a constant source, ingestion timestamps, a tumbling window, a count, a sink. */
    static Pipeline counting(long windowMs) {
        Pipeline pipeline = Pipeline.create();
        Engine.into(
            Engine.from(pipeline, SourceBuilder.stream("constant", context -> 0L)
                    .<Long>fillBufferFn((item, buffer) -> buffer.add(item))
                    .build())
                .withIngestionTimestamps()
                .window(WindowDefinition.tumbling(windowMs))
                .aggregate(AggregateOperations.counting()),
            SinkBuilder.sinkBuilder("counted", context -> 0L)
                .<WindowResult<Long>>receiveFn((nothing, window) -> COUNTED.add(window))
                .build());
        return pipeline;
    }

    /** A source that follows the schedule, a stage that passes items on, and a sink. */
    static Pipeline passing() {
        Pipeline pipeline = Pipeline.create();
        Engine.into(
            Engine.from(pipeline, SourceBuilder.stream("scheduled", context -> schedule)
                    .<Integer>fillBufferFn(Schedule::fill)
                    .build())
                .withoutTimestamps()
                .map(number -> number),
            SinkBuilder.sinkBuilder("received", context -> schedule)
                .<Integer>receiveFn(Schedule::receive)
                .build());
        return pipeline;
    }

    static void flatOut(long requested, int count) throws Exception {
        long[] t = new long[count], d = new long[count], items = new long[count];
        // A window is one of the clock's time of day, in milliseconds.
        long toNano = System.nanoTime() - System.currentTimeMillis() * MILLI;
        Job job = Engine.run(counting(requested / MILLI), Probe::alone);
        long begun = System.currentTimeMillis(), cpu = cpu();
        for (int counted = 0; counted < count; ) {
            WindowResult<Long> window = COUNTED.take();
            if ((window.start() - begun) * MILLI < WARM_UP) {
                cpu = cpu();
                continue;
            }
            t[counted] = window.start() * MILLI + toNano;
            d[counted] = (window.end() - window.start()) * MILLI;
            items[counted++] = window.result();
        }
        cpu = cpu() - cpu;
        job.cancel();
        emit("\"type\":\"r\",\"op\":\"" + FLAT_OUT + "\",\"requested\":" + requested + ",\"n\":" + count
            + ",\"unit\":\"ns\",\"t\":" + list(t) + ",\"d\":" + list(d) + ",\"items\":" + list(items) + ",\"cpu\":" + cpu);
    }

    static void paced(long requested, int count) throws Exception {
        int warmUp = (int) (WARM_UP / requested);
        schedule = new Schedule(requested, warmUp + count);
        Job job = Engine.run(passing(), Probe::alone);
        schedule.hasBegun.await();
        Thread.sleep(WARM_UP / MILLI);
        long cpu = cpu();
        schedule.allArrived.await();
        cpu = cpu() - cpu;
        job.cancel();
        long[] t = new long[count], d = new long[count];
        for (int i = 0; i < count; i++) {
            t[i] = schedule.due(warmUp + i);
            d[i] = schedule.arrived[warmUp + i] - t[i];
        }
        emit("\"type\":\"s\",\"op\":\"" + PACED + "\",\"requested\":" + requested + ",\"rounded\":" + requested + ",\"n\":"
            + count + ",\"unit\":\"ns\",\"t\":" + list(t) + ",\"d\":" + list(d) + ",\"cpu\":" + cpu);
    }

    /** The engine says nothing to anybody. It reads this when its first class is loaded. */
    static void silence() {
        System.setProperty("hazelcast.logging.type", "none");
        System.setProperty("hazelcast.phone.home.enabled", "false");
        System.setProperty("hazelcast.shutdownhook.enabled", "false");
        System.setProperty("hazelcast.socket.bind.any", "false");
    }

    /** The engine is alone, and on the loopback interface. */
    static void alone(NetworkConfig network) {
        network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        network.getJoin().getMulticastConfig().setEnabled(false);
    }

    /** What the engine's threads park for while they have nothing to do, instead of the engine's own spans. */
    static void parkFor(String micros) {
        for (String prefix : new String[] {"", "hazelcast."}) {
            for (String kind : new String[] {"cooperative", "noncooperative"}) {
                System.setProperty(prefix + "jet.idle." + kind + ".min.microseconds", micros);
                System.setProperty(prefix + "jet.idle." + kind + ".max.microseconds", micros);
            }
        }
    }

    static void run(String token) {
        String[] parts = token.split("@");
        try {
            long requested = Long.parseLong(parts[1]);
            int count = Integer.parseInt(parts[2]);
            if (parts[0].equals(FLAT_OUT)) {
                flatOut(requested, count);
            } else if (parts[0].equals(PACED)) {
                paced(requested, count);
            } else {
                throw new IllegalArgumentException("it measures " + FLAT_OUT + " and " + PACED);
            }
        } catch (Exception | LinkageError error) {
            emit("\"type\":\"skip\",\"op\":\"" + text(parts[0]) + "\",\"why\":\"" + text(error) + "\"");
        }
    }

    public static void main(String[] tokens) {
        silence();
        emit("\"type\":\"hello\",\"proto\":2,\"runtime\":\"jet\",\"version\":\"" + text(Engine.VERSION)
            + "\",\"clock\":\"System.nanoTime\",\"pid\":" + ProcessHandle.current().pid() + ",\"now\":" + System.nanoTime());
        for (String token : tokens) {
            if (token.startsWith("with=park:")) {
                parkFor(token.substring("with=park:".length()));
            } else if (token.equals("list")) {
                emit("\"type\":\"op\",\"op\":\"" + FLAT_OUT + "\",\"kind\":\"rate\"");
                emit("\"type\":\"op\",\"op\":\"" + PACED + "\",\"kind\":\"latency\"");
            } else {
                run(token);
            }
        }
        emit("\"type\":\"end\",\"now\":" + System.nanoTime());
        // The engine's threads would go on.
        Runtime.getRuntime().halt(0);
    }
}
