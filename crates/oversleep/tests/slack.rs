//! Timer slack on a real thread. Each test runs in its own thread, because slack belongs to a thread. Systems without
//! timer slack skip these tests.

use std::thread;
use std::time::Duration;

use oversleep::{Denied, Outcome, TimerSlack, Why};
use oversleep_testing::skip;

/// Whether there is a slack. Otherwise the test that asks is skipped.
#[track_caller]
fn has_slack() -> bool {
    match TimerSlack::current() {
        Err(denied @ Denied { why: Why::Unsupported { .. }, .. }) => {
            skip(denied);
            false
        }
        _ => true,
    }
}

fn ns(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}

#[test]
fn the_former_slack_is_restored_even_after_a_panic() {
    if !has_slack() {
        return;
    }
    thread::spawn(|| {
        let before = TimerSlack::current().expect("slack is readable");
        {
            let outer = TimerSlack::hold(ns(7_000));
            assert_eq!(*outer.outcome(), Outcome::Applied { was: before, now: ns(7_000) });
            let inner = TimerSlack::hold(ns(1));
            assert_eq!(*inner.outcome(), Outcome::Applied { was: ns(7_000), now: ns(1) });
            drop(inner);
            assert_eq!(TimerSlack::current(), Ok(ns(7_000)));
            let _ = std::panic::catch_unwind(|| {
                let _held = TimerSlack::hold(ns(2));
                assert_eq!(TimerSlack::current(), Ok(ns(2)));
                std::panic::resume_unwind(Box::new(()));
            });
            assert_eq!(TimerSlack::current(), Ok(ns(7_000)));
        }
        assert_eq!(TimerSlack::current(), Ok(before));
    })
    .join()
    .unwrap();
}

#[test]
fn guards_may_be_dropped_in_any_order() {
    if !has_slack() {
        return;
    }
    thread::spawn(|| {
        let before = TimerSlack::current();
        let [first, second, third] = [7_000, 1, 3_000].map(|slack| TimerSlack::hold(ns(slack)));
        drop(second);
        assert_eq!(TimerSlack::current(), Ok(ns(3_000)));
        drop(third);
        assert_eq!(TimerSlack::current(), Ok(ns(7_000)));
        let last = TimerSlack::hold(ns(1));
        drop(first);
        assert_eq!(TimerSlack::current(), Ok(ns(1)));
        drop(last);
        assert_eq!(TimerSlack::current(), before);
    })
    .join()
    .unwrap();
}

#[test]
fn a_thread_started_meanwhile_inherits_it_permanently() {
    if !has_slack() {
        return;
    }
    thread::spawn(|| {
        let held = TimerSlack::hold(ns(7_000));
        let (end, ended) = std::sync::mpsc::channel();
        let started = thread::spawn(move || {
            let before = TimerSlack::current();
            let _: Result<(), _> = ended.recv();
            (before, TimerSlack::current())
        });
        drop(held);
        drop(end);
        assert_eq!(started.join().unwrap(), (Ok(ns(7_000)), Ok(ns(7_000))));
    })
    .join()
    .unwrap();
}

#[test]
fn zero_is_taken_as_one_nanosecond() {
    if !has_slack() {
        return;
    }
    thread::spawn(|| {
        let held = TimerSlack::hold(ns(0));
        assert!(held.outcome().holds());
        assert_eq!(TimerSlack::current(), Ok(ns(1)));
    })
    .join()
    .unwrap();
}

#[test]
fn a_slack_of_seconds_is_restored() {
    // A user-mode emulator passes on only 31 bits of the kernel's answer, 2.1 s.
    if std::env::var_os("OVERSLEEP_TEST_RUNNER").is_some() {
        return skip("under a user-mode emulator");
    }
    if !has_slack() {
        return;
    }
    thread::spawn(|| {
        let _finest = TimerSlack::hold(ns(1));
        let coarse = TimerSlack::hold(Duration::from_secs(3));
        // An emulator that passes on only 32 bits is detected, and nothing stays changed.
        if let Outcome::Denied(Denied { why: Why::Ignored { .. }, .. }) = coarse.outcome() {
            assert_eq!(TimerSlack::current(), Ok(ns(1)));
            return skip(coarse.outcome());
        }
        assert_eq!(TimerSlack::current(), Ok(Duration::from_secs(3)));
        let same = TimerSlack::hold(Duration::from_secs(3));
        assert_eq!(*same.outcome(), Outcome::AlreadyFiner { is: Duration::from_secs(3) });
        drop(same);
        drop(coarse);
        assert_eq!(TimerSlack::current(), Ok(ns(1)));
    })
    .join()
    .unwrap();
}
