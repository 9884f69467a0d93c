//! Hand-offs through memory and what lies beneath it.

use std::sync::Arc;

use super::Kind;
use crate::macos::dispatch::Semaphore;
use crate::macos::os;
use crate::macos::semaphore::MachSemaphore;
use crate::unix::handoffs::{Condition, Park};
use oversleep_system::Handoff;
use oversleep_system::handoffs::macos::{CONDVAR, DISPATCH_SEMAPHORE, MACH_SEMAPHORE, THREAD_PARK};

pub(super) const KINDS: &[Kind] = &[
    Kind::new(&CONDVAR, || Ok(Arc::new(Condition::default()))),
    Kind::new(&THREAD_PARK, || Ok(Arc::new(Park::default()))),
    Kind::new(&MACH_SEMAPHORE, || Ok(Arc::new(Mach(MachSemaphore::new()?)))),
    Kind::new(&DISPATCH_SEMAPHORE, || Ok(Arc::new(Dispatch(Semaphore::new()?)))),
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
    use super::*;
    use crate::handoff_conformance::check;
    use crate::native::handoffs::kind_of;

    #[test]
    fn locks_conform() {
        for info in [&CONDVAR, &THREAD_PARK, &MACH_SEMAPHORE, &DISPATCH_SEMAPHORE] {
            check(kind_of(super::super::KINDS, info).expect("opened").open);
        }
    }
}
