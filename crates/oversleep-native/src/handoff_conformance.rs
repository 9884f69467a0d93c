//! The requirements for every hand-off on every system; each hand-off's test calls [`check`]. A failing hand-off leaves
//! a thread asleep forever, so each part has a time limit.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use oversleep_record::Unavailable;

use oversleep_system::Handoff;

const POSTS: usize = 1_000;

/// Checks a kind of hand-off.
pub(super) fn check(open: fn() -> Result<Arc<dyn Handoff>, Unavailable>) {
    within_limit("posts before the wait are kept", move || {
        let handoff = open().unwrap();
        (0..POSTS).for_each(|_| handoff.post());
        (0..POSTS).for_each(|_| handoff.wait());
    });
    within_limit("posts to a running waiter all arrive, and no more", move || {
        let handoff = open().unwrap();
        let waiter = waiting(&handoff, POSTS);
        (0..POSTS).for_each(|_| handoff.post());
        waiter.join().unwrap();
        // No post is left: another wait needs another post, and a stray notice doesn't count as one.
        let waiter = waiting(&handoff, 1);
        std::thread::sleep(Duration::from_millis(2));
        waiter.thread().unpark();
        std::thread::sleep(Duration::from_millis(2));
        assert!(!waiter.is_finished());
        handoff.post();
        waiter.join().unwrap();
    });
    within_limit("two of them take turns", move || {
        let (there, back) = (open().unwrap(), open().unwrap());
        let echo = {
            let (there, back) = (Arc::clone(&there), Arc::clone(&back));
            std::thread::spawn(move || {
                for _ in 0..POSTS {
                    there.wait();
                    back.post();
                }
            })
        };
        for _ in 0..POSTS {
            there.post();
            back.wait();
        }
        echo.join().unwrap();
    });
}

fn waiting(handoff: &Arc<dyn Handoff>, times: usize) -> std::thread::JoinHandle<()> {
    let handoff = Arc::clone(handoff);
    std::thread::spawn(move || (0..times).for_each(|_| handoff.wait()))
}

/// Runs a part of a check, and fails if it doesn't end.
pub(super) fn within_limit(what: &str, body: impl FnOnce() + Send + 'static) {
    let (done, wait_done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        body();
        // The receiver is gone only after the time limit.
        let _ = done.send(());
    });
    if wait_done.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("hangs: {what}");
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}
