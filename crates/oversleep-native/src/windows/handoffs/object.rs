//! Hand-offs through an object of the kernel: every post and every wait is a call into it.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use oversleep_system::Handoff;
use windows_sys::Win32::System::Threading::{CreateSemaphoreW, ReleaseSemaphore};

use super::{Call, expect, take};
use crate::windows::os;
use crate::windows::waits::{CompletionPort, Event, wait_for};

pub(super) const CALLS: &[Call] = &[
    ("event", || Ok(Arc::new(Counted { count: AtomicU32::new(0), event: Event::new()? }))),
    ("semaphore", || {
        // SAFETY: no attributes and no name are allowed.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createsemaphorew
        let handle = unsafe { CreateSemaphoreW(std::ptr::null(), 0, i32::MAX, std::ptr::null()) };
        if handle.is_null() {
            return Err(os::failed("CreateSemaphoreW"));
        }
        // SAFETY: a handle just made, owned by nobody else, closed by CloseHandle.
        Ok(Arc::new(Semaphore(unsafe { OwnedHandle::from_raw_handle(handle) })))
    }),
    ("completion-port", || Ok(Arc::new(Port(CompletionPort::new()?)))),
];

struct Counted {
    count: AtomicU32,
    event: Event,
}

impl Handoff for Counted {
    fn post(&self) {
        self.count.fetch_add(1, Ordering::Release);
        expect(self.event.set(), "SetEvent");
    }

    fn wait(&self) {
        // A set left by a post that was already taken makes this thread look at the count once more.
        while !take(&self.count) {
            expect(self.event.wait(), "WaitForSingleObject");
        }
    }
}

struct Semaphore(OwnedHandle);

impl Handoff for Semaphore {
    fn post(&self) {
        // SAFETY: the handle is open; the former count isn't asked for.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-releasesemaphore
        let released = unsafe { ReleaseSemaphore(self.0.as_raw_handle(), 1, std::ptr::null_mut()) };
        expect(released != 0, "ReleaseSemaphore");
    }

    fn wait(&self) {
        expect(wait_for(self.0.as_raw_handle()), "WaitForSingleObject");
    }
}

struct Port(CompletionPort);

impl Handoff for Port {
    fn post(&self) {
        expect(self.0.post(), "PostQueuedCompletionStatus");
    }

    fn wait(&self) {
        expect(self.0.take(), "GetQueuedCompletionStatus");
    }
}

#[cfg(test)]
mod tests {
    use crate::handoff_conformance::check;
    use crate::native::paired::call_of;

    #[test]
    fn event_conforms() {
        check(call_of(super::super::CALLS, "event").expect("paired"));
    }

    #[test]
    fn semaphore_conforms() {
        check(call_of(super::super::CALLS, "semaphore").expect("paired"));
    }

    #[test]
    fn completion_port_conforms() {
        check(call_of(super::super::CALLS, "completion-port").expect("paired"));
    }
}
