//! Timers of Grand Central Dispatch.

use oversleep_record::{Nanos, Unavailable};

use super::entry::{Entry, proved};
use crate::macos::dispatch::TimerSource;
use oversleep_system::{Family, Granularity, SlackRule, Target, WaitEnd, WaitInfo, Waiter, ZeroMeans};

const INFO: WaitInfo = WaitInfo {
    name: "dispatch-source-strict",
    call: "dispatch_source_set_timer (DISPATCH_TIMER_STRICT)",
    doc: "A dispatch timer that isn't coalesced: audio and video code. Its handler runs on a queue's thread, here one that \
          wakes the waiting thread, so a hand-off is part of the wait.",
    family: Family::Timer,
    absolute: false,
    granularity: Granularity::NANOSECOND,
    zero: ZeroMeans::ReturnsAtOnce,
    slack: SlackRule::None,
    since: "OS X 10.9",
    page: "https://developer.apple.com/documentation/dispatch/dispatch_timer_strict",
};

pub(super) static SOURCE_STRICT: Entry = Entry { info: INFO, open: || open(true) };

pub(super) static SOURCE: Entry = Entry {
    info: WaitInfo {
        name: "dispatch-source",
        call: "dispatch_source_set_timer (leeway 0)",
        doc: "The timer of Swift and Objective-C programs (DispatchSourceTimer, NSTimer's peers). A leeway of zero is a \
              wish: the system coalesces it nevertheless, by the class of the thread that serves the queue's timers.",
        slack: SlackRule::ClassShare,
        since: "Mac OS X 10.6",
        page: "https://developer.apple.com/documentation/dispatch/dispatch_source_set_timer",
        ..INFO
    },
    open: || open(false),
};

fn open(strict: bool) -> Result<Box<dyn Waiter>, Unavailable> {
    proved(Source(TimerSource::new(strict)?))
}

struct Source(TimerSource);

impl Waiter for Source {
    fn wait(&mut self, target: Target) -> WaitEnd {
        if target.remaining > Nanos::ZERO {
            self.0.wait_for(target.remaining);
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
        check(&SOURCE_STRICT, NeverEarly::Holds);
        check(&SOURCE, NeverEarly::Holds);
    }
}
