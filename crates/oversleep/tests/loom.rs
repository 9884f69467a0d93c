//! Checks every interleaving of the parker's token: no unpark is lost, no park returns without one, and what the other
//! thread wrote before is visible. The word is a model of the system's: a mutex makes checking and waiting one step.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p oversleep --test loom --target-dir target/loom`
#![cfg(loom)]

use loom::sync::atomic::{AtomicU32, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

#[path = "../src/park/token.rs"]
#[allow(dead_code, missing_docs)]
mod token;

use token::Token;

#[derive(Debug)]
struct Word {
    value: AtomicU32,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Word {
    fn new(value: u32) -> Self {
        Self { value: AtomicU32::new(value), lock: Mutex::new(()), changed: Condvar::new() }
    }

    fn wait(&self, expected: u32, _deadline_ns: Option<u64>) {
        let guard = self.lock.lock().unwrap();
        if self.value.load(Ordering::Relaxed) == expected {
            drop(self.changed.wait(guard).unwrap());
        }
    }

    fn wake_one(&self) {
        drop(self.lock.lock().unwrap());
        self.changed.notify_one();
    }
}

/// A relaxed value, which only the token orders.
struct Letter(AtomicU32);

impl Letter {
    fn write(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }
    fn read(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_park_ends_and_sees_what_came_before_the_unpark() {
    loom::model(|| {
        let shared = Arc::new((Token::new(), Letter(AtomicU32::new(0))));
        let other = shared.clone();
        let producer = thread::spawn(move || {
            other.1.write(7);
            other.0.leave();
        });
        shared.0.take();
        assert_eq!(shared.1.read(), 7);
        producer.join().unwrap();
    });
}

#[test]
fn two_unparks_leave_one_or_two_tokens_one_after_the_other() {
    loom::model(|| {
        let token = Arc::new(Token::new());
        let producers = [token.clone(), token.clone()].map(|token| thread::spawn(move || token.leave()));
        token.take();
        for producer in producers {
            producer.join().unwrap();
        }
        // At most one is left now, and a park with a deadline that has passed leaves none.
        let again = token.take_after(|_, _| {});
        assert!(!token.take_after(|_, _| {}), "after {again}");
    });
}

#[test]
fn an_unpark_at_the_deadline_is_taken_or_left_for_the_next_park() {
    loom::model(|| {
        let shared = Arc::new((Token::new(), Letter(AtomicU32::new(0))));
        let other = shared.clone();
        let producer = thread::spawn(move || {
            other.1.write(7);
            other.0.leave();
        });
        // The deadline passes at once.
        if shared.0.take_after(|_, _| {}) {
            assert_eq!(shared.1.read(), 7);
        } else {
            // The unpark must come in this one.
            shared.0.take();
            assert_eq!(shared.1.read(), 7);
        }
        producer.join().unwrap();
    });
}
