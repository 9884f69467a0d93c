//! Ends waits in progress from another thread, where the call allows it: it sets the event, or queues a call to the
//! alertable sleep.
//!
//! `Sleep`, timers and waits for sockets or messages can't be ended that way and run until they end by themselves.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use oversleep_record::Unavailable;
use windows_sys::Win32::Foundation::{DUPLICATE_SAME_ACCESS, DuplicateHandle, HANDLE};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetCurrentThread, QueueUserAPC, SetEvent};

use super::event::Event;
use crate::windows::os;

/// How the wait of one waiter can be ended, until the waiter is dropped.
pub(super) struct Ender(By);

enum By {
    /// The object it waits for.
    Event(Event),
    /// The thread that opened it.
    Thread(OwnedHandle),
}

static ALL: Mutex<Vec<Weak<Ender>>> = Mutex::new(Vec::new());

fn listed(by: By) -> Arc<Ender> {
    let ender = Arc::new(Ender(by));
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|other| other.strong_count() > 0);
    all.push(Arc::downgrade(&ender));
    ender
}

/// An event to wait for; setting it ends the wait.
pub(super) fn event() -> Result<Arc<Ender>, Unavailable> {
    Ok(listed(By::Event(Event::new()?)))
}

/// The calling thread; a call queued to it ends its alertable waits.
pub(super) fn this_thread() -> Result<Arc<Ender>, Unavailable> {
    let mut handle = std::ptr::null_mut();
    // SAFETY: both pseudo-handles need no closing, and the handle is valid to write to.
    // https://learn.microsoft.com/windows/win32/api/handleapi/nf-handleapi-duplicatehandle
    let duplicated = unsafe {
        let process = GetCurrentProcess();
        DuplicateHandle(process, GetCurrentThread(), process, &raw mut handle, 0, 0, DUPLICATE_SAME_ACCESS)
    };
    if duplicated == 0 {
        return Err(os::failed("DuplicateHandle(thread)"));
    }
    // SAFETY: a handle just made, owned by nobody else, closed by CloseHandle.
    Ok(listed(By::Thread(unsafe { OwnedHandle::from_raw_handle(handle) })))
}

impl Ender {
    /// The event's handle, for the wait. Waits don't use the thread's.
    pub(super) fn handle(&self) -> HANDLE {
        match &self.0 {
            By::Event(event) => event.handle(),
            By::Thread(thread) => thread.as_raw_handle(),
        }
    }

    pub(super) fn end(&self) {
        unsafe extern "system" fn nothing(_: usize) {}
        match &self.0 {
            // SAFETY: the handle is open. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setevent
            By::Event(event) => unsafe { SetEvent(event.handle()) },
            // SAFETY: the handle is open with all access, and the call takes any number.
            // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-queueuserapc
            By::Thread(thread) => unsafe { QueueUserAPC(Some(nothing), thread.as_raw_handle(), 0) as i32 },
        };
    }
}

/// Ends the waits in progress that can be ended; each ends as interrupted.
pub(crate) fn end_all() {
    let all: Vec<_> = ALL.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect();
    all.iter().for_each(|ender| ender.end());
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use oversleep_record::Nanos;
    use oversleep_system::{Target, WaitEnd};

    use super::*;
    use crate::native::paired::call_of;

    fn ends(name: &str) {
        let open = call_of(super::super::CALLS, name).expect("paired");
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut waiter = open().expect("every Windows has it");
                let remaining = Nanos::from_secs(3_600);
                let end = waiter.wait(Target { remaining, deadline: os::now() + remaining });
                over.store(true, Ordering::SeqCst);
                assert_eq!(end, WaitEnd::Interrupted, "{}", name);
            });
            while !over.load(Ordering::SeqCst) {
                end_all();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
    }

    // This may also end waits of other tests, which allow for it.
    #[test]
    fn an_hour_is_cut_short() {
        for name in ["sleep-ex", "wait-for-single-object", "wait-for-multiple-objects"] {
            ends(name);
        }
    }
}
