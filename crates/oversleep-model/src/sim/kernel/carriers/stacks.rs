//! Carriers with a stack each, on the OS thread that resumes them.

use std::cell::Cell;
use std::io;
use std::ptr;
use std::sync::{Mutex, MutexGuard};
use std::thread::ThreadId;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::{Job, Stop};
use crate::sim::kernel::state::Slot;

/// As large as a program's main stack on Windows. Only the used part takes memory.
const STACK_BYTES: usize = 1 << 20;
/// Unused stacks: a run starts thousands of modelled threads, and a new stack costs page faults. All modelled machines
/// share them.
static IDLE: Mutex<Vec<DefaultStack>> = Mutex::new(Vec::new());
/// The most unused stacks that are kept.
const IDLE_MAX: usize = 64;

thread_local! {
    /// The way back to the resumer of the carrier that runs on this thread.
    static BACK: Cell<*const Yielder<Slot, Slot>> = const { Cell::new(ptr::null()) };
}

/// Runs one job, which is suspended at each [`pass`].
pub(in crate::sim::kernel) struct Carrier {
    /// Present until it is dropped.
    coroutine: Option<Coroutine<Slot, Slot, Slot>>,
    /// The thread that first resumed it.
    home: Option<ThreadId>,
}

// SAFETY: a job that has not begun is `Send`; once it has, `resume` lets its stack be entered on that thread only, and
// dropping doesn't touch it.
unsafe impl Send for Carrier {}

fn idle() -> MutexGuard<'static, Vec<DefaultStack>> {
    // No panic can leave the list inconsistent.
    IDLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Carrier {
    /// A carrier whose job has not begun.
    ///
    /// # Errors
    /// The system's error if it has no memory for another stack.
    pub(in crate::sim::kernel) fn new(job: Job) -> io::Result<Carrier> {
        let kept = idle().pop();
        let stack = kept.map_or_else(|| DefaultStack::new(STACK_BYTES), Ok)?;
        let body = |back: &Yielder<Slot, Slot>, me| {
            BACK.set(back);
            job(me)
        };
        Ok(Carrier { coroutine: Some(Coroutine::with_stack(stack, body)), home: None })
    }

    /// Runs the job until it is suspended or ends. A panic of the job propagates.
    pub(in crate::sim::kernel) fn resume(&mut self, me: Slot) -> Stop {
        let here = std::thread::current().id();
        let home = *self.home.get_or_insert(here);
        assert_eq!(home, here, "a modelled machine with threads in progress stays on one thread of the system");
        // The resumer may be a carrier itself.
        let outer = Outer(BACK.get());
        let result = self.coroutine.as_mut().expect("it is not dropped").resume(me);
        drop(outer);
        match result {
            CoroutineResult::Yield(next) => Stop::Passed(next),
            CoroutineResult::Return(next) => Stop::Ended(next),
        }
    }
}

struct Outer(*const Yielder<Slot, Slot>);

impl Drop for Outer {
    fn drop(&mut self) {
        BACK.set(self.0);
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        let Some(coroutine) = self.coroutine.take() else { return };
        if coroutine.done() {
            let mut idle = idle();
            if idle.len() < IDLE_MAX {
                idle.push(coroutine.into_stack());
            }
        } else if coroutine.started() {
            // It keeps its data, like a thread that is never woken again, because unwinding would run its code.
            std::mem::forget(coroutine);
        }
    }
}

/// Suspends the calling carrier, which hands the baton on, and returns its slot when it gets the baton again.
pub(in crate::sim::kernel) fn pass(next: Slot) -> Slot {
    let back = BACK.get();
    assert!(!back.is_null(), "only a carrier can be left");
    // SAFETY: it was set by the carrier that runs on this thread, on whose stack it stays as long as that one does.
    let me = unsafe { (*back).suspend(next) };
    BACK.set(back);
    me
}

#[cfg(any(test, feature = "asyncify"))]
conformance!();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_on_no_other_thread_of_the_system() {
        let mut carrier = Carrier::new(Box::new(|me| pass(me) + 1)).unwrap();
        assert_eq!(carrier.resume(1), Stop::Passed(1));
        let (mut carrier, refused) = std::thread::spawn(move || {
            let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| carrier.resume(2))).is_err();
            (carrier, refused)
        })
        .join()
        .unwrap();
        assert!(refused);
        assert_eq!(carrier.resume(3), Stop::Ended(4));
    }

    #[test]
    fn one_that_is_left_in_the_middle_is_not_unwound() {
        struct Unwound;
        impl Drop for Unwound {
            fn drop(&mut self) {
                panic!("its code ran");
            }
        }
        let body: Job = Box::new(|me| {
            let _guard = Unwound;
            pass(me)
        });
        let mut carrier = Carrier::new(body).unwrap();
        assert_eq!(carrier.resume(1), Stop::Passed(1));
        drop(carrier);
    }
}
