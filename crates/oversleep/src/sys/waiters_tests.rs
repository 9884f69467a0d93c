//! Tests the list of waiting threads with the standard library's event, even on systems that don't use it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::*;

#[test]
fn a_changed_word_is_not_waited_for() {
    let word = Word::new(1);
    word.wait(0, None);
    assert!(word.waiters().is_empty());
}

#[test]
fn a_deadline_leaves_nobody_on_the_list() {
    let word = Word::new(0);
    word.wait(0, Some(super::super::monotonic_ns() + 1_000));
    word.wait(0, Some(0));
    assert!(word.waiters().is_empty());
}

#[test]
fn every_waiter_is_woken_once() {
    let word = Word::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while word.value.load(Ordering::Acquire) == 0 {
                    word.wait(0, None);
                }
            });
        }
        while word.waiters().len() < 4 {
            std::thread::sleep(Duration::from_micros(100));
        }
        word.wake_one();
        word.value.store(1, Ordering::Release);
        word.wake_all();
    });
    assert!(word.waiters().is_empty());
}
