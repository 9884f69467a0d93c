//! Hand-offs through a descriptor.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use oversleep_record::Unavailable;
use oversleep_system::Handoff;

use super::{Call, interrupted, take};
use crate::macos::os;
use crate::macos::waits::queue;

pub(super) const CALLS: &[Call] = &[
    ("pipe", || {
        let (reader, writer) = std::io::pipe().map_err(|error| Unavailable::failed("pipe", error))?;
        Ok(Arc::new(Pipe { reader: OwnedFd::from(reader).into(), writer: OwnedFd::from(writer).into() }))
    }),
    ("kevent-user", || {
        let user = KeventUser { queue: queue()?, count: AtomicU32::new(0) };
        // The queue tells each notice once, because telling it clears it.
        let add = event(libc::EV_ADD | libc::EV_CLEAR, 0);
        if user.change(&add) != 0 {
            return Err(os::failed("kevent(EVFILT_USER)"));
        }
        Ok(Arc::new(user))
    }),
];

struct Pipe {
    reader: File,
    writer: File,
}

impl Handoff for Pipe {
    fn post(&self) {
        // One byte is written or not, never in part; the library starts again after a signal.
        let written = (&self.writer).write_all(&[1]);
        assert!(written.is_ok(), "write to a pipe: {written:?}");
    }

    fn wait(&self) {
        let read = (&self.reader).read_exact(&mut [0]);
        assert!(read.is_ok(), "read of a pipe: {read:?}");
    }
}

fn event(flags: u16, notes: u32) -> libc::kevent {
    libc::kevent { ident: 1, filter: libc::EVFILT_USER, flags, fflags: notes, data: 0, udata: std::ptr::null_mut() }
}

struct KeventUser {
    queue: OwnedFd,
    count: AtomicU32,
}

impl KeventUser {
    fn change(&self, change: &libc::kevent) -> libc::c_int {
        // SAFETY: one change is passed and no event is asked for.
        unsafe { libc::kevent(self.queue.as_raw_fd(), change, 1, std::ptr::null_mut(), 0, std::ptr::null()) }
    }
}

impl Handoff for KeventUser {
    fn post(&self) {
        self.count.fetch_add(1, Ordering::Release);
        let trigger = event(0, libc::NOTE_TRIGGER);
        while self.change(&trigger) != 0 && interrupted("kevent(NOTE_TRIGGER)") {}
    }

    fn wait(&self) {
        while !take(&self.count) {
            let mut seen = event(0, 0);
            // SAFETY: no change is passed, there is room for one event, and a null timeout is forever.
            let events = unsafe {
                libc::kevent(self.queue.as_raw_fd(), std::ptr::null(), 0, &raw mut seen, 1, std::ptr::null())
            };
            // The count decides, whatever ended the wait.
            let _ = events >= 0 || interrupted("kevent");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::handoff_conformance::check;
    use crate::native::paired::call_of;

    #[test]
    fn descriptors_conform() {
        check(call_of(super::super::CALLS, "pipe").expect("paired"));
        check(call_of(super::super::CALLS, "kevent-user").expect("paired"));
    }
}
