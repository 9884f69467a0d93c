//! Parks and condition variables on the real machine: nothing is lost, nothing is early.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::*;
use crate::clock::monotonic_ns;

const LONG: Duration = Duration::from_secs(60);

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
