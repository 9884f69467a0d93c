//! Timed waits for kernel objects that nobody signals.

use std::sync::Arc;

use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};
use windows_sys::Win32::System::Threading::{WaitForMultipleObjects, WaitForSingleObject};

use super::args;
use super::ending::{self, Ender};
use super::entry::{ended, proved_at_once, too_long};
use super::event::Event;
use crate::native::waits::calls;

calls! { waits::WINDOWS;
    WAIT_FOR_SINGLE_OBJECT = "wait-for-single-object" => proved_at_once(Single(ending::event()?)),
    WAIT_FOR_MULTIPLE_OBJECTS = "wait-for-multiple-objects" => proved_at_once(Multiple(ending::event()?, Event::new()?)),
}

struct Single(Arc<Ender>);

impl Waiter for Single {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = WAIT_FOR_SINGLE_OBJECT;
        let Some(millis) = args::millis(info, target.remaining) else { return too_long(info) };
        // SAFETY: the handle is open. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitforsingleobject
        ended(info, unsafe { WaitForSingleObject(self.0.handle(), millis) })
    }
}

struct Multiple(Arc<Ender>, Event);

impl Waiter for Multiple {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = WAIT_FOR_MULTIPLE_OBJECTS;
        let Some(millis) = args::millis(info, target.remaining) else { return too_long(info) };
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
        check(WAIT_FOR_SINGLE_OBJECT);
    }

    #[test]
    fn wait_for_multiple_objects_conforms() {
        check(WAIT_FOR_MULTIPLE_OBJECTS);
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
