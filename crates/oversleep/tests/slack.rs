//! Timer slack on a real thread. Each test runs in a thread of its own, because slack belongs to a thread. Where there is
//! no timer slack, its tests have nothing to say.

use std::thread;
use std::time::Duration;

use oversleep::{Denied, Outcome, TimerSlack, Why};

fn here() -> bool {
    !matches!(TimerSlack::current(), Err(Denied { why: Why::Unsupported { .. }, .. }))
}

fn ns(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}

#[test]
fn the_former_slack_comes_back_also_after_a_panic() {
    if !here() {
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
fn a_thread_started_meanwhile_inherits_it_for_good() {
    if !here() {
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
    if !here() {
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
fn seconds_survive() {
    // An emulator of user mode passes on 31 bits of the kernel's answer: 2.1 s.
    if !here() || std::env::var_os("OVERSLEEP_TEST_RUNNER").is_some() {
        return;
    }
    thread::spawn(|| {
        let _finest = TimerSlack::hold(ns(1));
        let coarse = TimerSlack::hold(Duration::from_secs(3));
        // An emulator that passes on 32 bits only is found out, and leaves nothing changed.
        if let Outcome::Denied(Denied { why: Why::Ignored { .. }, .. }) = coarse.outcome() {
            println!("this kernel doesn't take three seconds of slack: {:?}", coarse.outcome());
            assert_eq!(TimerSlack::current(), Ok(ns(1)));
            return;
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
