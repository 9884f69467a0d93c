//! Timed waits for a semaphore, which nobody signals.

use oversleep_record::Nanos;
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::proved;
use super::reason::{mach_ended, too_long};
use crate::macos::dispatch;
use crate::macos::os;
use crate::macos::semaphore::MachSemaphore;
use crate::native::waits::calls;

calls! { waits::MACOS;
    MACH_SEMAPHORE = "mach-semaphore" => MachSemaphore::new().and_then(|semaphore| proved(Mach(semaphore))),
    DISPATCH_SEMAPHORE = "dispatch-semaphore" => proved(Dispatch(dispatch::Semaphore::new()?)),
}

struct Mach(MachSemaphore);

impl Waiter for Mach {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let span = args::timespec(MACH_SEMAPHORE, target.remaining);
        match u32::try_from(span.tv_sec) {
            Ok(secs) => mach_ended(MACH_SEMAPHORE, self.0.timed_wait(secs, span.tv_nsec as i32), os::TIMED_OUT),
            Err(_) => too_long(MACH_SEMAPHORE),
        }
    }
}

struct Dispatch(dispatch::Semaphore);

impl Waiter for Dispatch {
    fn wait(&mut self, target: Target) -> WaitEnd {
        if target.remaining <= Nanos::ZERO {
            return WaitEnd::TimedOut;
        }
        let span = args::nanos(DISPATCH_SEMAPHORE, target.remaining);
        if self.0.wait_for(span) { WaitEnd::Interrupted } else { WaitEnd::TimedOut }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, check};
    use super::*;

    #[test]
    fn semaphores_conform() {
        check(MACH_SEMAPHORE, NeverEarly::Holds);
        check(DISPATCH_SEMAPHORE, NeverEarly::Holds);
    }
}
