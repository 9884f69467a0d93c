import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import oversleep.Beat;
import oversleep.Oversleep;
import oversleep.Pacer;
import oversleep.Parker;
import oversleep.Resolution;

/** The binding beside Java's own waits. Order and deadlines are exact; nothing is said of how late a busy machine is. */
public final class OversleepTest {
    private static int checks;

    private static void check(boolean holds, String what) {
        checks++;
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static void refused(Runnable call, String what) {
        try {
            call.run();
        } catch (IllegalStateException | IllegalArgumentException expected) {
            checks++;
            return;
        }
        throw new AssertionError(what + " was accepted");
    }

    private static void clockAndSleep() {
        long before = Oversleep.monotonicNs();
        check(Oversleep.monotonicNs() >= before, "time goes on");
        check(Oversleep.clock().contains("in use"), Oversleep.clock());
        for (long ns : new long[] {0, 20_000, 300_000, 2_000_000}) {
            long deadline = Oversleep.monotonicNs() + ns;
            Oversleep.sleepUntil(deadline);
            check(Oversleep.monotonicNs() >= deadline, "a sleep ended early");
        }
        refused(() -> Oversleep.sleep(Duration.ofNanos(-1)), "a negative sleep");
    }

    private static void besideParkNanos() {
        List<Long> ours = new ArrayList<>();
        List<Long> theirs = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            long start = System.nanoTime();
            Oversleep.sleep(Duration.ofMillis(1));
            ours.add(System.nanoTime() - start - 1_000_000);
            start = System.nanoTime();
            LockSupport.parkNanos(1_000_000);
            theirs.add(System.nanoTime() - start - 1_000_000);
        }
        ours.sort(null);
        theirs.sort(null);
        System.out.println("lateness of 1 ms, median: Oversleep.sleep " + ours.get(50) + " ns, LockSupport.parkNanos "
                + theirs.get(50) + " ns");
        // The best of a hundred says what each can do. The two clocks may differ by a few nanoseconds.
        check(ours.get(0) > -100_000 && ours.get(0) < theirs.get(50), "ours " + ours.get(0) + ", " + theirs.get(50));
    }

    private static void pacer() throws InterruptedException {
        try (Pacer pacer = Pacer.perSecond(2_000)) {
            long delivered = 0;
            long missed = 0;
            while (delivered < 20) {
                Beat beat = pacer.await();
                delivered++;
                missed += beat.missed();
                check(beat.period() == delivered + missed, "every period is delivered or missed: " + beat);
                check(Oversleep.monotonicNs() >= beat.deadlineNs(), "none is early: " + beat);
                if (delivered == 5) {
                    Thread.sleep(3);
                }
            }
            check(missed >= 4, "the pause missed periods: " + missed);
        }
        try (Pacer pacer = Pacer.everyNs(500_000).onMissed(Pacer.Missed.CATCH_UP)) {
            Thread.sleep(3);
            for (long period = 1; period <= 8; period++) {
                check(pacer.await().period() == period, "catching up misses nothing");
            }
        }
        refused(() -> Pacer.perSecond(0), "a rate of zero");
        Pacer closed = Pacer.perSecond(1);
        closed.close();
        closed.close();
        refused(closed::await, "a closed pacer");
    }

    private static void parker() throws InterruptedException {
        try (Parker parker = new Parker()) {
            parker.unpark();
            parker.unpark();
            parker.park();
            long deadline = Oversleep.monotonicNs() + 300_000;
            check(!parker.parkUntil(deadline), "two tokens are one");
            check(Oversleep.monotonicNs() >= deadline, "a park ended early");
            Thread other = new Thread(parker::unpark);
            other.start();
            check(parker.parkUntil(deadline + 60_000_000_000L), "the unpark was lost");
            check(!parker.park(Duration.ofNanos(200_000)), "nobody unparked it");
            other.join();
        }
    }

    private static void resolution() {
        try (Resolution resolution = new Resolution().harmless().timerSlackNs(1).hold()) {
            check(!resolution.outcome(Resolution.Setting.TIMER_SLACK).isEmpty(), "a request has an outcome");
            check(resolution.outcome(Resolution.Setting.CPU_LATENCY).isEmpty(), "what wasn't requested has none");
            refused(resolution::hold, "a second hold");
        }
        try (Resolution resolution = new Resolution().timeSliceNs(100_000).multimedia().cpuLatencyNs(50_000)) {
            check(resolution.outcome(Resolution.Setting.TIME_SLICE).isEmpty(), "nothing is requested before the hold");
            resolution.hold();
            check(resolution.outcome(Resolution.Setting.TIME_SLICE).contains("slice"), "the outcome names the setting");
            check(!resolution.outcome(Resolution.Setting.MULTIMEDIA).isEmpty(), "another system's setting is denied");
        }
        refused(() -> new Resolution().realTime(100), "a priority of 100");
    }

    public static void main(String[] arguments) throws InterruptedException {
        clockAndSleep();
        besideParkNanos();
        pacer();
        parker();
        resolution();
        System.out.println(checks + " checks passed");
    }
}
