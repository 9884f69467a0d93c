//! Parks and condition variables on the real machine: nothing is lost, nothing is early.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::*;
use crate::clock::monotonic_ns;

/// Longer than any run of the tests.
const LONG: Duration = Duration::from_secs(30 * 86_400);

#[test]
fn a_token_waits_for_the_park() {
    let parker = Parker::new();
    let unparker = parker.unparker();
    unparker.unpark();
    unparker.clone().unpark();
    assert_eq!(parker.park_timeout(LONG), Woken::Notified);
    assert!(!parker.park_timeout(Duration::from_micros(5)).is_notified(), "two tokens are one");
    unparker.unpark();
    parker.park();
    unparker.unpark();
    assert!(parker.park_coarsely(LONG) && !parker.park_coarsely(Duration::ZERO));
    unparker.unpark();
    assert_eq!(parker.park_until(Instant::from_nanos(1)), Woken::Notified, "also after the deadline");
}

#[test]
fn no_park_ends_early() {
    let parker = Parker::new();
    for us in [0, 1, 7, 30, 90, 300, 1_500] {
        for _ in 0..20 {
            let deadline = Instant::now() + Duration::from_micros(us);
            let woken = parker.park_until(deadline);
            assert!(monotonic_ns() >= deadline.as_nanos() && Instant::now() >= deadline, "{us} µs");
            assert!(matches!(woken, Woken::AtDeadline { .. }));
        }
    }
}

#[test]
fn no_unpark_is_lost_while_deadlines_pass() {
    let (ping, pong) = (Parker::new(), Parker::new());
    let (to_ping, to_pong) = (ping.unparker(), pong.unparker());
    let turns = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            // A parker stays with its thread.
            let pong = pong;
            for turn in 1..=2_000 {
                while turns.load(Ordering::Relaxed) < turn {
                    if turn % 2 == 0 {
                        pong.park();
                    } else {
                        pong.park_timeout(Duration::from_micros(20));
                    }
                }
                to_ping.unpark();
            }
        });
        for _ in 0..2_000 {
            turns.fetch_add(1, Ordering::Relaxed);
            to_pong.unpark();
            assert_eq!(ping.park_timeout(LONG), Woken::Notified);
        }
    });
}

#[test]
fn a_condition_ends_the_wait_and_so_does_the_deadline() {
    let (left, changed) = (Mutex::new(3), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..3 {
                *left.lock().unwrap() -= 1;
                changed.notify_one();
            }
        });
        let deadline = Instant::now() + LONG;
        let guard = changed.wait_while_until(&left, left.lock().unwrap(), deadline, |left| *left > 0).unwrap();
        assert_eq!(*guard, 0);
    });
    let deadline = Instant::now() + Duration::from_micros(200);
    let guard = changed.wait_while_until(&left, left.lock().unwrap(), deadline, |left| *left == 0).unwrap();
    assert!(*guard == 0 && monotonic_ns() >= deadline.as_nanos());
}

#[test]
fn every_waiter_is_notified() {
    let (is_open, opened) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        for i in 0..4 {
            let (is_open, opened) = (&is_open, &opened);
            scope.spawn(move || {
                let mut guard = is_open.lock().unwrap();
                while !*guard {
                    guard = if i % 2 == 0 {
                        opened.wait(is_open, guard).unwrap()
                    } else {
                        opened.wait_until(is_open, guard, Instant::now() + LONG).unwrap().0
                    };
                }
            });
        }
        thread::sleep(Duration::from_millis(1));
        *is_open.lock().unwrap() = true;
        opened.notify_all();
    });
}

#[test]
fn a_poisoned_mutex_is_handed_back_with_its_guard() {
    let (mutex, condvar) = (Mutex::new(7), Condvar::new());
    let _ = thread::scope(|scope| {
        scope
            .spawn(|| {
                let _guard = mutex.lock();
                std::panic::resume_unwind(Box::new("on purpose"));
            })
            .join()
    });
    let guard = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    let (guard, woken) = condvar.wait_until(&mutex, guard, Instant::from_nanos(1)).unwrap_err().into_inner();
    assert!(*guard == 7 && !woken.is_notified());
}

mod in_virtual_time {
    use super::*;
    use crate::backoff::{Backoff, Idled, Limits};
    use crate::time::VirtualClock;

    #[test]
    fn a_park_ends_at_its_deadline_and_as_late_as_the_clock_says() {
        let time = VirtualClock::new();
        time.set_lateness(Duration::from_millis(2));
        let parker = Parker::new().with_time(time.clone());
        let deadline = time.now() + Duration::from_secs(9);
        assert_eq!(parker.park_until(deadline), Woken::AtDeadline { lateness_ns: 2_000_000 });
        parker.unparker().unpark();
        let before = time.now();
        assert_eq!((parker.park_timeout(Duration::from_secs(9)), time.now()), (Woken::Notified, before));
    }

    #[test]
    fn a_back_off_on_a_parker_learns_the_clocks_lateness() {
        let time = VirtualClock::new();
        time.set_lateness(Duration::from_micros(60));
        let limits = Limits { spins: 0, yields: 0, ..Limits::default() };
        let mut backoff = Backoff::with_limits(limits).with_time(time.clone());
        let parker = Parker::new().with_time(time);
        assert_eq!(backoff.idle_on(&parker), Idled::Parked { requested_ns: 1_000, duration_ns: 61_000 });
        assert_eq!(backoff.park_lateness(), Some(Duration::from_micros(60)));
    }

    #[test]
    fn another_thread_ends_the_waits_of_a_driven_clock() {
        let time = VirtualClock::driven();
        let start = time.now();
        let parker = Parker::new().with_time(time.clone());
        let unparker = parker.unparker();
        let (mutex, condvar) = (Mutex::new(false), Condvar::new().with_time(time.clone()));
        let hour = start + Duration::from_secs(3_600);
        thread::scope(|scope| {
            let parked = scope.spawn(move || parker.park_until(hour));
            let waited = scope.spawn(|| {
                let guard = mutex.lock().unwrap();
                *condvar.wait_while_until(&mutex, guard, hour, |is_ready| !*is_ready).unwrap()
            });
            time.wait_for_sleepers(2);
            time.advance(Duration::from_secs(60));
            unparker.unpark();
            assert_eq!(parked.join().unwrap(), Woken::Notified);
            *mutex.lock().unwrap() = true;
            condvar.notify_all();
            assert!(waited.join().unwrap());
        });
        assert_eq!((time.now() - start, time.advance_to_next()), (Duration::from_secs(60), None));
    }
}
