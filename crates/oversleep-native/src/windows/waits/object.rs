//! Timed waits for kernel objects that nobody signals.

use std::sync::Arc;

use windows_sys::Win32::System::Threading::{WaitForMultipleObjects, WaitForSingleObject};

use super::args;
use super::ending::{self, Ender};
use super::entry::{Entry, ended, proved_at_once, too_long};
use super::event::Event;
use oversleep_system::{Family, Granularity, SlackRule, Target, WaitEnd, WaitInfo, Waiter, ZeroMeans};

pub(super) static WAIT_FOR_SINGLE_OBJECT: Entry = Entry {
    info: WaitInfo {
        name: "wait-for-single-object",
        call: "WaitForSingleObject(event, timeout)",
        doc: "A wait for an event, thread or process with a timeout; Java's LockSupport.parkNanos and C run-times end in \
              it. Its timeout ends at a timer interrupt, as Sleep's.",
        family: Family::Lock,
        absolute: false,
        granularity: Granularity::MILLISECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::TimerResolution,
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitforsingleobject",
    },
    open: || proved_at_once(Single(ending::event()?)),
};

struct Single(Arc<Ender>);

impl Waiter for Single {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = &WAIT_FOR_SINGLE_OBJECT.info;
        let Some(millis) = args::millis(target.remaining) else { return too_long(info) };
        // SAFETY: the handle is open. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitforsingleobject
        ended(info, unsafe { WaitForSingleObject(self.0.handle(), millis) })
    }
}

pub(super) static WAIT_FOR_MULTIPLE_OBJECTS: Entry = Entry {
    info: WaitInfo {
        name: "wait-for-multiple-objects",
        call: "WaitForMultipleObjects(2 events, any, timeout)",
        doc: "Event loops of services and of old game engines: up to 64 objects at once. Its timeout ends at a timer \
              interrupt, as Sleep's.",
        family: Family::Lock,
        absolute: false,
        granularity: Granularity::MILLISECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::TimerResolution,
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitformultipleobjects",
    },
    open: || proved_at_once(Multiple(ending::event()?, Event::new()?)),
};

struct Multiple(Arc<Ender>, Event);

impl Waiter for Multiple {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = &WAIT_FOR_MULTIPLE_OBJECTS.info;
        let Some(millis) = args::millis(target.remaining) else { return too_long(info) };
        let handles = [self.0.handle(), self.1.handle()];
        // SAFETY: both handles are open, and their number is told.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitformultipleobjects
        ended(info, unsafe { WaitForMultipleObjects(handles.len() as u32, handles.as_ptr(), 0, millis) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn wait_for_single_object_conforms() {
        check(&WAIT_FOR_SINGLE_OBJECT);
    }

    #[test]
    fn wait_for_multiple_objects_conforms() {
        check(&WAIT_FOR_MULTIPLE_OBJECTS);
    }

    #[test]
    fn a_signalled_object_is_no_timeout() {
        let event = ending::event().expect("an event");
        event.end();
        let mut single = Single(event);
        let target = Target { remaining: oversleep_record::Nanos::from_secs(60), deadline: oversleep_record::Nanos(0) };
        assert_eq!(single.wait(target), WaitEnd::Interrupted);
    }
}
