//! Timers of Grand Central Dispatch.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::proved;
use crate::macos::dispatch::TimerSource;
use crate::native::waits::calls;

calls! { waits::MACOS;
    DISPATCH_SOURCE_STRICT = "dispatch-source-strict" => open(DISPATCH_SOURCE_STRICT, true),
    DISPATCH_SOURCE = "dispatch-source" => open(DISPATCH_SOURCE, false),
}

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
        check(DISPATCH_SOURCE_STRICT, NeverEarly::Holds);
        check(DISPATCH_SOURCE, NeverEarly::Holds);
    }
}
