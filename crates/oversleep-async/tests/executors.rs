//! Sleeps on tokio and on the simplest executor: never early, removed on drop, and exact where tokio rounds to
//! milliseconds.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use oversleep::Instant;
use oversleep::clock::monotonic_ns;
use oversleep_async::doc::block_on;
use oversleep_async::{Sleep, interval, sleep, sleep_until};

/// The result of a future's first poll.
async fn polled_once<T>(future: impl Future<Output = T>) -> Poll<T> {
    let mut future = pin!(future);
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}

async fn never_early(make: impl Fn(Instant) -> Sleep) {
    for us in [0, 20, 150, 700, 2_500] {
        let deadline = Instant::now() + Duration::from_micros(us);
        make(deadline).await;
        assert!(Instant::now() >= deadline && monotonic_ns() >= deadline.as_nanos(), "{us} µs");
    }
}

#[test]
fn no_sleep_ends_early() {
    block_on(never_early(sleep_until));
    block_on(never_early(|deadline| sleep_until(deadline).exactly()));
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tokio.block_on(never_early(sleep_until));
    tokio.block_on(never_early(|deadline| sleep_until(deadline).exactly()));
}

#[test]
fn a_thousand_tasks_each_end_on_their_own_time() {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    tokio.block_on(async {
        let start = Instant::now();
        let tasks: Vec<_> = (0..1_000_u64)
            .map(|i| {
                let deadline = start + Duration::from_micros(500 + i * 7_919 % 1_000 * 5);
                tokio::spawn(async move {
                    sleep_until(deadline).await;
                    monotonic_ns() >= deadline.as_nanos()
                })
            })
            .collect();
        for task in tasks {
            assert!(task.await.unwrap());
        }
    });
}

#[test]
fn a_sleep_that_is_dropped_or_moved_wakes_nobody_else() {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    tokio.block_on(async {
        assert!(polled_once(sleep(Duration::from_secs(3_600))).await.is_pending());
        // Polled in one task, finished in another.
        let mut moved = Box::pin(sleep(Duration::from_millis(3)));
        let _ = polled_once(moved.as_mut()).await;
        let end = moved.deadline();
        tokio::spawn(moved).await.unwrap();
        assert!(monotonic_ns() >= end.as_nanos());
    });
}

#[test]
fn a_tick_that_is_dropped_loses_no_period() {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    tokio.block_on(async {
        loop {
            let mut ticks = interval(Duration::from_millis(50)).on_missed(oversleep::Missed::CatchUp);
            // A thread that loses its processor for the whole period gets a tick and drops it.
            if polled_once(ticks.tick()).await.is_ready() {
                continue;
            }
            for period in 1..=2 {
                assert_eq!(ticks.tick().await.period, period);
            }
            return;
        }
    });
}

/// tokio's timer counts milliseconds and rounds up, so its sleep of 100 µs takes at least 1 ms. Both in turn, and the
/// medians are compared.
#[test]
#[ignore = "real time; a quiet machine"]
fn it_is_exact_where_tokio_rounds() {
    const REQUESTED: Duration = Duration::from_micros(100);
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    tokio.block_on(async {
        for _ in 0..60 {
            let start = Instant::now();
            sleep(REQUESTED).await;
            ours.push(start.elapsed());
            let start = Instant::now();
            tokio::time::sleep(REQUESTED).await;
            theirs.push(start.elapsed());
        }
    });
    ours.sort_unstable();
    theirs.sort_unstable();
    println!("median of 100 µs: ours {:?}, tokio {:?}", ours[30], theirs[30]);
    assert!(ours[0] >= REQUESTED, "{ours:?}");
    assert!(theirs[30] > ours[30], "{theirs:?}");
}
