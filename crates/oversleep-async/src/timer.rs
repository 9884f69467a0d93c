//! The thread that waits for the earliest deadline and wakes its task.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::task::Waker;
use std::thread;

use oversleep::{Clock, Instant, Parker, Unparker};

/// Deadline in nanoseconds, then a number, because deadlines may be equal.
type Key = (u64, u64);

struct Timer {
    queue: Mutex<Queue>,
    unparker: Unparker,
}

#[derive(Default)]
struct Queue {
    wakers: BTreeMap<Key, Waker>,
    next_number: u64,
}

static TIMER: OnceLock<Timer> = OnceLock::new();

impl Timer {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn timer() -> &'static Timer {
    TIMER.get_or_init(|| {
        let (sender, receiver) = mpsc::channel();
        let run = move || {
            // A parker belongs to the thread that parks on it.
            let parker = Parker::new();
            if sender.send(parker.unparker()).is_ok() {
                run(&parker);
            }
        };
        let started = thread::Builder::new().name("oversleep-timer".to_owned()).spawn(run);
        if let Err(error) = started {
            panic!("the timer's thread could not be started ({error}); raise the limit on threads");
        }
        let unparker = receiver.recv().expect("the timer's thread runs");
        Timer { queue: Mutex::default(), unparker }
    })
}

fn run(parker: &Parker) -> ! {
    let timer = TIMER.wait();
    let mut due = Vec::new();
    loop {
        let next_ns = {
            let mut queue = timer.queue();
            let now_ns = Clock::now().as_nanos();
            while let Some(first) = queue.wakers.first_entry().filter(|first| first.key().0 <= now_ns) {
                due.push(first.remove());
            }
            queue.wakers.first_key_value().map(|(&(deadline_ns, _), _)| deadline_ns)
        };
        if !due.is_empty() {
            // The queue must not be locked here: a waker may drop or create a sleep. It may also panic, which must not
            // end the thread that all other sleeps depend on.
            for waker in due.drain(..) {
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| waker.wake()));
            }
            continue;
        }
        match next_ns {
            Some(deadline_ns) => {
                parker.park_until(Instant::from_nanos(deadline_ns));
            }
            None => parker.park(),
        }
    }
}

/// A place in the queue, removed on drop.
#[derive(Debug)]
pub(crate) struct Entry {
    key: Key,
}

/// Schedules a wake-up of this task.
pub(crate) fn wake_at(deadline_ns: u64, waker: &Waker) -> Entry {
    let timer = timer();
    let mut queue = timer.queue();
    let key = (deadline_ns, queue.next_number);
    queue.next_number += 1;
    queue.wakers.insert(key, waker.clone());
    let is_first = queue.wakers.first_key_value().is_some_and(|(&first, _)| first == key);
    drop(queue);
    if is_first {
        timer.unparker.unpark();
    }
    Entry { key }
}

impl Entry {
    /// Updates the waker, if the task has moved to another one or was woken too early.
    pub(crate) fn renew(&mut self, waker: &Waker) {
        let timer = timer();
        let mut queue = timer.queue();
        let old = match queue.wakers.get_mut(&self.key) {
            Some(known) if known.will_wake(waker) => None,
            Some(known) => Some(std::mem::replace(known, waker.clone())),
            None => {
                // It was woken by the library's clock, which may be ahead of the system's.
                queue.wakers.insert(self.key, waker.clone());
                timer.unparker.unpark();
                None
            }
        };
        drop(queue);
        drop(old);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let waker = timer().queue().wakers.remove(&self.key);
        // Dropped after the queue is unlocked, for the same reason as above.
        drop(waker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_entry_leaves_the_queue() {
        let far_ns = Clock::now().as_nanos() + 3_600_000_000_000;
        let entries: Vec<_> = (0..3).map(|_| wake_at(far_ns, Waker::noop())).collect();
        assert_eq!(timer().queue().wakers.len(), 3);
        drop(entries);
        assert!(timer().queue().wakers.is_empty());
    }
}
