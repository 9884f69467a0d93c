import java.io.File;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import oversleep.Oversleep;
import oversleep.Pacer;
import oversleep.Parker;
import oversleep.Resolution;

/**
 * Wrong uses of the binding, each in a process of its own: they end in an exception or do nothing, and Java lives on. With
 * the name of a case as its argument, it runs that case in this process.
 */
public final class MisuseTest {
    /** How often threads race for the same thing. */
    private static final int RACES = 3_000;

    private static final Map<String, Case> CASES = new LinkedHashMap<>();

    static {
        CASES.put("two threads close a parker", () -> closedByTwo(Parker::new));
        CASES.put("two threads close a pacer", () -> closedByTwo(() -> Pacer.perSecond(1_000)));
        CASES.put("two threads close a resolution", () -> closedByTwo(Resolution::new));
        CASES.put("closing ends a park", MisuseTest::closedWhileParked);
        CASES.put("closing ends the parks of all who try", MisuseTest::closedWhileSeveralPark);
        CASES.put("threads unpark, park and close", MisuseTest::closedWhileUnparked);
        CASES.put("a pacer is closed while a thread waits", MisuseTest::pacerClosedWhileWaiting);
        CASES.put("two threads use a pacer", MisuseTest::pacerUsedByTwo);
        CASES.put("another thread closes a resolution", MisuseTest::resolutionClosedElsewhere);
        CASES.put("a virtual thread holds a resolution", MisuseTest::resolutionInVirtualThread);
        CASES.put("everything is used after its close", MisuseTest::usedAfterClose);
        CASES.put("numbers out of range, and null", MisuseTest::wrongNumbers);
        CASES.put("nothing is closed", MisuseTest::neverClosed);
        CASES.put("the stack ends", MisuseTest::outOfStack);
        CASES.put("threads wait as Java ends", MisuseTest::shutdown);
    }

    private interface Case {
        void run() throws Exception;
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    /** Runs a call that must throw one of the exceptions for misuse. */
    private static void refused(String what, Runnable call) {
        try {
            call.run();
        } catch (IllegalStateException | IllegalArgumentException | NullPointerException expected) {
            return;
        }
        throw new AssertionError(what + " was accepted");
    }

    private static Thread started(Runnable body) {
        Thread thread = new Thread(body);
        thread.start();
        return thread;
    }

    private static void ended(Thread... threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join(TimeUnit.MINUTES.toMillis(2));
            check(!thread.isAlive(), "a thread never ended");
        }
    }

    /** Runs both at the same moment, as closely as two threads can; what they throw for misuse is left out. */
    private static void race(Runnable one, Runnable other) throws InterruptedException {
        CyclicBarrier start = new CyclicBarrier(2);
        Runnable[] both = {one, other};
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            Runnable body = both[i];
            threads[i] = started(() -> {
                try {
                    start.await();
                    body.run();
                } catch (IllegalStateException refused) {
                    // What misuse gets.
                } catch (Exception failure) {
                    throw new AssertionError(failure);
                }
            });
        }
        ended(threads);
    }

    private static void closedByTwo(Supplier<AutoCloseable> make) throws InterruptedException {
        for (int i = 0; i < RACES; i++) {
            AutoCloseable closed = make.get();
            Runnable close = () -> {
                try {
                    closed.close();
                } catch (IllegalStateException refused) {
                    throw refused;
                } catch (Exception failure) {
                    throw new AssertionError(failure);
                }
            };
            race(close, close);
        }
    }

    private static void closedWhileParked() throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            Parker parker = new Parker();
            CountDownLatch parks = new CountDownLatch(1);
            boolean[] wasRefused = {false};
            Thread thread = started(() -> {
                parks.countDown();
                try {
                    parker.park();
                } catch (IllegalStateException closed) {
                    wasRefused[0] = true;
                }
            });
            parks.await();
            Thread.sleep(i % 3);
            parker.close();
            ended(thread);
            check(wasRefused[0], "the park of a closed parker ended as if another thread had unparked it");
        }
    }

    private static void closedWhileSeveralPark() throws InterruptedException {
        for (int i = 0; i < 200; i++) {
            Parker parker = new Parker();
            Thread[] threads = new Thread[4];
            for (int k = 0; k < threads.length; k++) {
                threads[k] = started(() -> {
                    try {
                        while (true) {
                            parker.park(Duration.ofDays(1));
                        }
                    } catch (IllegalStateException refused) {
                        // Closed, or another thread is parked.
                    }
                });
            }
            Thread.sleep(i % 2);
            parker.close();
            ended(threads);
        }
    }

    private static void closedWhileUnparked() throws InterruptedException {
        for (int i = 0; i < RACES; i++) {
            Parker parker = new Parker();
            Runnable unparks = () -> {
                while (true) {
                    parker.unpark();
                }
            };
            Runnable parks = () -> {
                while (true) {
                    parker.park();
                }
            };
            race(i % 2 == 0 ? unparks : parks, parker::close);
        }
    }

    private static void pacerClosedWhileWaiting() throws InterruptedException {
        for (int i = 0; i < 200; i++) {
            Pacer pacer = Pacer.everyNs(300_000);
            Runnable waits = () -> {
                while (true) {
                    pacer.await();
                }
            };
            Runnable closes = () -> {
                Oversleep.sleep(Duration.ofNanos(500_000));
                pacer.close();
            };
            race(waits, closes);
            refused("a closed pacer", pacer::await);
        }
    }

    private static void pacerUsedByTwo() throws InterruptedException {
        try (Pacer pacer = Pacer.perSecond(20_000)) {
            Runnable uses = () -> {
                for (int i = 0; i < RACES; i++) {
                    try {
                        pacer.onMissed(Pacer.Missed.CATCH_UP);
                        check(pacer.await().period() > 0, "a period is counted from 1");
                    } catch (IllegalStateException refused) {
                        Thread.onSpinWait();
                    }
                }
            };
            race(uses, uses);
        }
    }

    private static void resolutionClosedElsewhere() throws InterruptedException {
        for (int i = 0; i < 300; i++) {
            Resolution resolution = new Resolution().harmless().hold();
            boolean[] wasRefused = {false};
            ended(started(() -> {
                try {
                    resolution.close();
                } catch (IllegalStateException elsewhere) {
                    wasRefused[0] = true;
                }
            }));
            check(wasRefused[0], "another thread closed it");
            check(!resolution.outcome(Resolution.Setting.TIMER_SLACK).isEmpty(), "it is still held");
            resolution.close();
        }
    }

    private static void resolutionInVirtualThread() throws InterruptedException {
        boolean[] wasRefused = {false};
        Thread thread = Thread.ofVirtual().start(() -> {
            try (Resolution resolution = new Resolution().harmless()) {
                resolution.hold();
            } catch (IllegalStateException refused) {
                wasRefused[0] = true;
            }
        });
        ended(thread);
        check(wasRefused[0], "a virtual thread held finer timing");
        Thread[] threads = new Thread[50];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = Thread.ofVirtual().start(() -> Oversleep.sleep(Duration.ofNanos(200_000)));
        }
        ended(threads);
    }

    private static void usedAfterClose() {
        Parker parker = new Parker();
        Pacer pacer = Pacer.perSecond(1);
        Resolution resolution = new Resolution().harmless().hold();
        for (int i = 0; i < 2; i++) {
            parker.close();
            pacer.close();
            resolution.close();
        }
        refused("park", parker::park);
        refused("parkUntil", () -> parker.parkUntil(0));
        refused("park for a time", () -> parker.park(Duration.ZERO));
        refused("unpark", parker::unpark);
        refused("await", pacer::await);
        refused("onMissed", () -> pacer.onMissed(Pacer.Missed.SKIP));
        refused("harmless", resolution::harmless);
        refused("hold", resolution::hold);
        refused("timerSlackNs", () -> resolution.timerSlackNs(1));
        refused("realTime", () -> resolution.realTime(1));
        refused("outcome", () -> resolution.outcome(Resolution.Setting.TIMER));
    }

    private static void wrongNumbers() {
        Oversleep.sleepUntil(-1);
        Oversleep.sleepUntil(Long.MIN_VALUE);
        refused("a negative sleep", () -> Oversleep.sleep(Duration.ofSeconds(Long.MIN_VALUE)));
        refused("null", () -> Oversleep.sleep(null));
        for (int rate : new int[] {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            refused("a rate of " + rate, () -> Pacer.perSecond(rate));
        }
        for (long period : new long[] {0, -1, Long.MIN_VALUE}) {
            refused("a period of " + period, () -> Pacer.everyNs(period));
        }
        try (Pacer longest = Pacer.everyNs(Long.MAX_VALUE); Pacer most = Pacer.perSecond(1_000_000_000)) {
            refused("null", () -> longest.onMissed(null));
            for (Pacer.Missed policy : Pacer.Missed.values()) {
                longest.onMissed(policy);
                check(most.onMissed(policy).await().period() > 0, "a period is counted from 1");
            }
        }
        try (Parker parker = new Parker()) {
            check(!parker.parkUntil(-1) && !parker.parkUntil(Long.MIN_VALUE), "a deadline in the past ends a park");
            refused("a negative park", () -> parker.park(Duration.ofNanos(-1)));
            refused("null", () -> parker.park(null));
            parker.unpark();
            check(parker.park(Duration.ofSeconds(Long.MAX_VALUE)), "the longest park takes the token");
        }
        try (Resolution resolution = new Resolution()) {
            for (long ns : new long[] {-1, Long.MIN_VALUE}) {
                refused("a negative slack", () -> resolution.timerSlackNs(ns));
                refused("a negative period", () -> resolution.timerNs(ns));
                refused("a negative latency", () -> resolution.cpuLatencyNs(ns));
                refused("a negative slice", () -> resolution.timeSliceNs(ns));
            }
            refused("null", () -> resolution.outcome(null));
            refused("a priority", () -> resolution.realTime(Integer.MIN_VALUE));
            resolution.timerSlackNs(Long.MAX_VALUE).timerNs(Long.MAX_VALUE).timeSliceNs(Long.MAX_VALUE).hold();
            refused("a second hold", resolution::hold);
        }
    }

    private static void neverClosed() {
        for (int i = 0; i < 20_000; i++) {
            new Parker().unpark();
            Pacer.perSecond(1_000_000_000).await();
            new Resolution().harmless();
        }
        new Resolution().harmless().hold();
        System.gc();
    }

    private static int deep(Parker parker, int depth) {
        parker.unpark();
        parker.parkUntil(0);
        Oversleep.sleepUntil(1);
        return deep(parker, depth + 1) + 1;
    }

    private static void outOfStack() throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            Parker parker = new Parker();
            Thread thread = new Thread(null, () -> {
                try {
                    deep(parker, 0);
                } catch (StackOverflowError expected) {
                    // As any Java code gets.
                }
            }, "deep", 256 << 10);
            thread.start();
            ended(thread);
            parker.close();
        }
    }

    private static void shutdown() throws InterruptedException {
        Parker parker = new Parker();
        Pacer pacer = Pacer.perSecond(2_000);
        Resolution held = new Resolution().harmless().hold();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            parker.close();
            pacer.close();
            try {
                held.close();
            } catch (IllegalStateException elsewhere) {
                Oversleep.sleep(Duration.ofMillis(2));
            }
        }));
        started(parker::park).setUncaughtExceptionHandler((thread, closed) -> {});
        started(() -> {
            while (true) {
                pacer.await();
            }
        }).setUncaughtExceptionHandler((thread, closed) -> {});
        for (int i = 0; i < 4; i++) {
            Thread sleeps = new Thread(() -> {
                while (true) {
                    Oversleep.sleep(Duration.ofNanos(100_000));
                }
            });
            sleeps.setDaemon(true);
            sleeps.start();
        }
        Thread.sleep(20);
        System.exit(0);
    }

    /** Runs a case in a process of its own, and returns what is wrong with its end. */
    private static String fault(String name) throws Exception {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + File.separator + "bin"
                + File.separator + "java", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), "-XX:-CreateCoredumpOnCrash", "-XX:+ErrorFileToStdout"));
        String library = System.getProperty("oversleep.library");
        if (library != null) {
            command.add("-Doversleep.library=" + library);
        }
        command.addAll(List.of("MisuseTest", name));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int code = process.waitFor();
        return code == 0 ? null : "exit code " + code + "\n" + said;
    }

    /** A thread that waits in the C library can't be interrupted, so a case that hangs ends its process. */
    private static void haltLater() {
        Thread halts = new Thread(() -> {
            Oversleep.sleep(Duration.ofMinutes(2));
            System.out.println("it hangs");
            Runtime.getRuntime().halt(3);
        });
        halts.setDaemon(true);
        halts.start();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1) {
            haltLater();
            CASES.get(arguments[0]).run();
            return;
        }
        int faults = 0;
        for (String name : CASES.keySet()) {
            String fault = fault(name);
            if (fault != null) {
                faults++;
                System.out.println("FAILED " + name + ": " + fault);
            }
        }
        if (faults > 0) {
            System.exit(1);
        }
        System.out.println(CASES.size() + " wrong uses ended well");
    }
}
