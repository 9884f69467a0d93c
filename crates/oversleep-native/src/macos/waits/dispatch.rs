//! Timers of Grand Central Dispatch.

use oversleep_record::{Nanos, Unavailable};

use super::args;
use super::entry::{Entry, proved};
use crate::macos::dispatch::TimerSource;
use oversleep_system::waits::macos::{DISPATCH_SOURCE, DISPATCH_SOURCE_STRICT};
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(&DISPATCH_SOURCE_STRICT, || open(&DISPATCH_SOURCE_STRICT, true)),
    Entry::new(&DISPATCH_SOURCE, || open(&DISPATCH_SOURCE, false)),
];

fn open(info: &'static WaitInfo, strict: bool) -> Result<Box<dyn Waiter>, Unavailable> {
    proved(Source { timer: TimerSource::new(strict)?, info })
}

struct Source {
    timer: TimerSource,
    info: &'static WaitInfo,
}

impl Waiter for Source {
    fn wait(&mut self, target: Target) -> WaitEnd {
        if target.remaining > Nanos::ZERO {
            self.timer.wait_for(args::nanos(self.info, target.remaining));
        }
        WaitEnd::TimedOut
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, check};
    use super::*;

    #[test]
    fn sources_conform() {
        check(&DISPATCH_SOURCE_STRICT, NeverEarly::Holds);
        check(&DISPATCH_SOURCE, NeverEarly::Holds);
    }
}
