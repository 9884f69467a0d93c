//! The requirements for every hand-off on every system; each hand-off's test calls [`check`]. A failing hand-off leaves a
//! thread asleep forever, and its test doesn't end.

use std::sync::Arc;
use std::time::Duration;

use oversleep_record::Unavailable;
use oversleep_system::Handoff;

const POSTS: usize = 1_000;

/// Checks a kind of hand-off.
pub(super) fn check(open: fn() -> Result<Arc<dyn Handoff>, Unavailable>) {
    posts_before_the_wait_are_kept(&*open().unwrap());
    posts_to_a_running_waiter_all_arrive_and_no_more(&open().unwrap());
    two_take_turns(&open().unwrap(), &open().unwrap());
}

fn posts_before_the_wait_are_kept(handoff: &dyn Handoff) {
    (0..POSTS).for_each(|_| handoff.post());
    (0..POSTS).for_each(|_| handoff.wait());
}

fn posts_to_a_running_waiter_all_arrive_and_no_more(handoff: &Arc<dyn Handoff>) {
    let waiter = waiting(handoff, POSTS);
    (0..POSTS).for_each(|_| handoff.post());
    waiter.join().unwrap();
    // No post is left: another wait needs another post, and a stray notice doesn't count as one.
    let waiter = waiting(handoff, 1);
    std::thread::sleep(Duration::from_millis(2));
    waiter.thread().unpark();
    std::thread::sleep(Duration::from_millis(2));
    assert!(!waiter.is_finished());
    handoff.post();
    waiter.join().unwrap();
}

fn two_take_turns(there: &Arc<dyn Handoff>, back: &Arc<dyn Handoff>) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..POSTS {
                there.wait();
                back.post();
            }
        });
        for _ in 0..POSTS {
            there.post();
            back.wait();
        }
    });
}

fn waiting(handoff: &Arc<dyn Handoff>, times: usize) -> std::thread::JoinHandle<()> {
    let handoff = Arc::clone(handoff);
    std::thread::spawn(move || (0..times).for_each(|_| handoff.wait()))
}
