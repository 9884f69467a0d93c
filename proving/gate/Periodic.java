import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** The same by a scheduler. */
public class Periodic {
    static volatile long sum = 1;

    public static void main(String[] args) throws InterruptedException {
        boolean plants = args.length > 0 && args[0].equals("work");
        var done = new CountDownLatch(200);
        var pool = Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "periodic"));
        pool.scheduleAtFixedRate(() -> {
            for (int at = 0; at < 2_000; at++) sum = sum * 31 + at;
            long begun = System.nanoTime();
            while (plants && System.nanoTime() - begun < 1_000_000) { }
            done.countDown();
        }, 5, 5, TimeUnit.MILLISECONDS);
        done.await();
        pool.shutdownNow();
    }
}
