//! The event: an object that one thread sets and another waits for.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use oversleep_record::Unavailable;
use windows_sys::Win32::Foundation::{HANDLE, WAIT_OBJECT_0};
use windows_sys::Win32::System::Threading::{CreateEventW, INFINITE, SetEvent, WaitForSingleObject};

use crate::windows::os;

/// An auto-reset event without a name: setting it lets one wait pass.
pub(in crate::windows) struct Event(OwnedHandle);

impl Event {
    /// A new event, not set.
    pub(in crate::windows) fn new() -> Result<Event, Unavailable> {
        // SAFETY: no attributes and no name are allowed.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createeventw
        let handle = unsafe { CreateEventW(std::ptr::null(), 0, 0, std::ptr::null()) };
        if handle.is_null() {
            return Err(os::failed("CreateEventW"));
        }
        // SAFETY: a handle just made, owned by nobody else, closed by CloseHandle.
        Ok(Event(unsafe { OwnedHandle::from_raw_handle(handle) }))
    }

    /// Its handle.
    pub(in crate::windows) fn handle(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    /// Lets one wait pass; returns whether that worked.
    pub(in crate::windows) fn set(&self) -> bool {
        // SAFETY: the handle is open. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setevent
        unsafe { SetEvent(self.handle()) != 0 }
    }

    /// Blocks until the event is set; returns whether that worked.
    pub(in crate::windows) fn wait(&self) -> bool {
        wait_for(self.handle())
    }
}

/// Blocks until the object is signalled; returns whether that worked.
pub(in crate::windows) fn wait_for(object: HANDLE) -> bool {
    // SAFETY: the caller holds the handle open. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitforsingleobject
    unsafe { WaitForSingleObject(object, INFINITE) == WAIT_OBJECT_0 }
}
