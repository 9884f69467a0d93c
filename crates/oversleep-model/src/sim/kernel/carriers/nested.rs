//! Carriers on the stack of their resumer, for WebAssembly, which can't switch stacks: only one modelled thread beside
//! the first, and it runs to its end. Starting another one from within fails, so what needs several threads is
//! unavailable there.

use std::cell::Cell;
use std::io;

use super::{Job, Stop};
use crate::sim::kernel::state::Slot;

thread_local! {
    /// Whether a carrier runs.
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Runs one job from beginning to end.
pub(in crate::sim::kernel) struct Carrier(Option<Job>);

impl Carrier {
    /// A carrier whose job has not begun.
    ///
    /// # Errors
    /// Fails within another carrier: neither could be suspended for the other.
    pub(in crate::sim::kernel) fn new(job: Job) -> io::Result<Carrier> {
        if RUNNING.get() {
            let message = "modelled threads can't take turns in WebAssembly";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        Ok(Carrier(Some(job)))
    }

    /// Runs the job. A panic of the job propagates.
    pub(in crate::sim::kernel) fn resume(&mut self, me: Slot) -> Stop {
        let job = self.0.take().expect("its job is not over");
        let _running = Running(RUNNING.replace(true));
        Stop::Ended(job(me))
    }
}

/// Restores the former value on drop.
struct Running(bool);

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// Never called: the baton is only handed on between two threads that take turns.
#[cfg(target_family = "wasm")]
pub(in crate::sim::kernel) fn pass(_next: Slot) -> Slot {
    unreachable!("a carrier on the stack of another can't stop in the middle")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carrier_runs_to_its_end_at_once() {
        let mut carrier = Carrier::new(Box::new(|me| me + 1)).unwrap();
        assert_eq!(carrier.resume(3), Stop::Ended(4));
    }

    #[test]
    fn none_is_started_within_another_but_one_after_it_is() {
        let within: Job = Box::new(|me| me + Slot::from(Carrier::new(Box::new(|me| me)).is_err()));
        assert_eq!(Carrier::new(within).unwrap().resume(1), Stop::Ended(2));
        assert_eq!(Carrier::new(Box::new(|me| me)).unwrap().resume(5), Stop::Ended(5));
    }

    #[test]
    fn a_job_that_panics_leaves_room_for_the_next() {
        let mut carrier = Carrier::new(Box::new(|_| panic!("on purpose"))).unwrap();
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| carrier.resume(1))).is_err());
        assert!(Carrier::new(Box::new(|me| me)).is_ok());
    }
}
