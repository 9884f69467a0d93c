import oversleep.Beat;
import oversleep.Oversleep;
import oversleep.Pacer;

/** Sleeps for 1 ms, runs a loop for ten periods, and says which clock it used. */
public final class Sample {
    private Sample() {}

    public static void main(String[] arguments) {
        long deadline = Oversleep.monotonicNs() + 1_000_000;
        Oversleep.sleepUntil(deadline);
        System.out.println("slept " + (Oversleep.monotonicNs() >= deadline ? "until" : "short of") + " its deadline");
        try (Pacer frames = Pacer.perSecond(500)) {
            for (int i = 0; i < 10; i++) {
                Beat frame = frames.await();
                System.out.println("frame " + frame.period() + ": " + frame.latenessNs() + " ns late");
            }
        }
        System.out.println(Oversleep.clock());
    }
}
