//! Hand-offs through memory and what lies beneath it.

use std::sync::Arc;

use oversleep_system::Handoff;

use super::Call;
use crate::macos::dispatch::Semaphore;
use crate::macos::os;
use crate::macos::semaphore::MachSemaphore;
use crate::unix::handoffs::{Condition, Park};

pub(super) const CALLS: &[Call] = &[
    ("condvar", || Ok(Arc::new(Condition::default()))),
    ("thread-park", || Ok(Arc::new(Park::default()))),
    ("mach-semaphore", || Ok(Arc::new(Mach(MachSemaphore::new()?)))),
    ("dispatch-semaphore", || Ok(Arc::new(Dispatch(Semaphore::new()?)))),
];

struct Mach(MachSemaphore);

impl Handoff for Mach {
    fn post(&self) {
        let error = self.0.signal();
        assert!(error == os::SUCCESS, "{}", os::mach_failed("semaphore_signal", error));
    }

    fn wait(&self) {
        loop {
            match self.0.wait() {
                os::SUCCESS => return,
                // A signal.
                os::ABORTED => {}
                error => panic!("{}", os::mach_failed("semaphore_wait", error)),
            }
        }
    }
}

struct Dispatch(Semaphore);

impl Handoff for Dispatch {
    fn post(&self) {
        self.0.signal();
    }

    fn wait(&self) {
        self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use crate::handoff_conformance::check;
    use crate::native::paired::call_of;

    #[test]
    fn locks_conform() {
        for name in ["condvar", "thread-park", "mach-semaphore", "dispatch-semaphore"] {
            check(call_of(super::super::CALLS, name).expect("paired"));
        }
    }
}
