//! The time slice of a real thread. Each test runs in its own thread, because a slice belongs to a thread. Kernels without
//! it skip these tests.

use std::thread;
use std::time::Duration;

use oversleep::resolution::What;
use oversleep::{Outcome, Resolution, Sleeper, TimeSlice, TimerSlack};
use oversleep_testing::skip;

/// Runs `body` in a thread of its own, with its slice.
#[track_caller]
fn with_slice(body: impl FnOnce(Duration) + Send + 'static) {
    if let Err(denied) = TimeSlice::current() {
        return skip(denied);
    }
    thread::spawn(|| body(TimeSlice::current().expect("it was readable"))).join().unwrap();
}

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

#[test]
fn guards_may_be_dropped_in_any_order() {
    with_slice(|before| {
        let long = TimeSlice::hold(us(500));
        let Outcome::Applied { was, now } = *long.outcome() else { return skip(long.outcome()) };
        assert_eq!((was, now), (before, us(500)));
        let short = TimeSlice::hold(Duration::ZERO);
        assert_eq!(*short.outcome(), Outcome::Applied { was: us(500), now: TimeSlice::SHORTEST });
        drop(long);
        assert_eq!(TimeSlice::current(), Ok(TimeSlice::SHORTEST));
        drop(short);
        assert_eq!(TimeSlice::current(), Ok(before));
    });
}

#[test]
fn a_slice_of_its_own_is_restored_after_a_panic() {
    with_slice(|before| {
        let own = TimeSlice::hold(us(300));
        if !own.outcome().holds() || before <= us(300) {
            return skip(own.outcome());
        }
        let _ = std::panic::catch_unwind(|| {
            let _held = TimeSlice::hold(us(200));
            assert_eq!(TimeSlice::current(), Ok(us(200)));
            std::panic::resume_unwind(Box::new(()));
        });
        assert_eq!(TimeSlice::current(), Ok(us(300)));
        drop(own);
        assert_eq!(TimeSlice::current(), Ok(before));
    });
}

#[test]
fn threads_inherit_it_for_good() {
    with_slice(|before| {
        let held = TimeSlice::hold(us(200));
        if !held.outcome().holds() || before <= us(200) {
            return skip(held.outcome());
        }
        let started = thread::spawn(TimeSlice::current);
        drop(held);
        assert_eq!(started.join().unwrap(), Ok(us(200)));
    });
}

#[test]
fn slack_slice_and_real_time_are_restored_in_any_order() {
    with_slice(|before| {
        let slack_before = TimerSlack::current();
        let slack = TimerSlack::hold(Duration::from_nanos(7_777));
        let slice = TimeSlice::hold(us(200));
        let real_time = Resolution::new().real_time(7).hold();
        let is_real_time = real_time.outcome(What::RealTime).is_some_and(|outcome| outcome.holds());
        // Under the real-time policy neither can be set.
        drop(slack);
        drop(slice);
        drop(real_time);
        assert_eq!((TimerSlack::current(), TimeSlice::current()), (slack_before, Ok(before)), "{is_real_time}");
    });
}

#[test]
fn a_sleeping_thread_keeps_its_slice() {
    with_slice(|before| {
        let mut sleeper = Sleeper::new();
        for _ in 0..20 {
            let slept = sleeper.sleep(us(300));
            assert!(slept.slice.is_none_or(|slice| slice.holds()));
            assert_eq!(TimeSlice::current(), Ok(before));
        }
    });
}
