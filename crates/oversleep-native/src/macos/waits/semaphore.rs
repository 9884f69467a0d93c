//! Timed waits for a semaphore, which nobody signals.

use oversleep_record::{Nanos, Unavailable};

use super::args;
use super::entry::{Entry, proved};
use super::reason::{mach_ended, too_long};
use crate::macos::dispatch;
use crate::macos::os;
use crate::macos::semaphore::MachSemaphore;
use oversleep_system::{Family, Granularity, SlackRule, Target, WaitEnd, WaitInfo, Waiter, ZeroMeans};

const INFO: WaitInfo = WaitInfo {
    name: "mach-semaphore",
    call: "semaphore_timedwait",
    doc: "Mach's semaphore with a span: beneath nanosleep, dispatch semaphores and many hand-made locks.",
    family: Family::Lock,
    absolute: false,
    granularity: Granularity::NANOSECOND,
    zero: ZeroMeans::ReturnsAtOnce,
    slack: SlackRule::ClassShare,
    since: "Mac OS X 10.0",
    page: "https://developer.apple.com/library/archive/documentation/Darwin/Conceptual/KernelProgramming/synchronization/synchronization.html",
};

pub(super) static MACH_SEMAPHORE: Entry =
    Entry { info: INFO, open: || MachSemaphore::new().and_then(|semaphore| proved(Mach(semaphore))) };

struct Mach(MachSemaphore);

impl Waiter for Mach {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let span = args::timespec(target.remaining);
        match u32::try_from(span.tv_sec) {
            Ok(secs) => mach_ended(&MACH_SEMAPHORE.info, self.0.timed_wait(secs, span.tv_nsec as i32), os::TIMED_OUT),
            Err(_) => too_long(&MACH_SEMAPHORE.info),
        }
    }
}

pub(super) static DISPATCH_SEMAPHORE: Entry = Entry {
    info: WaitInfo {
        name: "dispatch-semaphore",
        call: "dispatch_semaphore_wait(timeout)",
        doc: "Grand Central Dispatch's semaphore: Swift and Objective-C code, and Rust's parking. No system call while it \
              is free; its timeout is a dispatch_time, counted on mach_absolute_time.",
        since: "Mac OS X 10.6",
        page: "https://developer.apple.com/documentation/dispatch/dispatch_semaphore_wait",
        ..INFO
    },
    open: || -> Result<Box<dyn Waiter>, Unavailable> { proved(Dispatch(dispatch::Semaphore::new()?)) },
};

struct Dispatch(dispatch::Semaphore);

impl Waiter for Dispatch {
    fn wait(&mut self, target: Target) -> WaitEnd {
        if target.remaining <= Nanos::ZERO {
            return WaitEnd::TimedOut;
        }
        if self.0.wait_for(target.remaining) { WaitEnd::Interrupted } else { WaitEnd::TimedOut }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, check};
    use super::*;

    #[test]
    fn semaphores_conform() {
        check(&MACH_SEMAPHORE, NeverEarly::Holds);
        check(&DISPATCH_SEMAPHORE, NeverEarly::Holds);
    }
}
