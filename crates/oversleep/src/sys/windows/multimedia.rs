//! Windows: the Multimedia Class Scheduler Service, which runs threads of multimedia programs ahead of ordinary ones.
//!
//! avrt.dll is loaded when it is first needed, because some editions of Windows Server lack it.

use std::cell::Cell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;
use std::sync::OnceLock;

use windows_sys::Win32::System::LibraryLoader::{GetProcAddress, LOAD_LIBRARY_SEARCH_SYSTEM32, LoadLibraryExA};

use super::denied;
use crate::outcome::{Denied, Outcome, Why};
use crate::scheduling::Scheduling;

type Handle = *mut c_void;
type Set = unsafe extern "system" fn(task: *const u16, index: *mut u32) -> Handle;
type Revert = unsafe extern "system" fn(task: Handle) -> i32;

#[derive(Clone, Copy)]
struct Service {
    set: Set,
    revert: Revert,
}

impl Service {
    /// The service is loaded once and kept, because its own threads may still use it.
    fn get() -> Option<Service> {
        static SERVICE: OnceLock<Option<Service>> = OnceLock::new();
        *SERVICE.get_or_init(|| {
            // SAFETY: the names end with a zero byte, and only the system's folder is searched. Both functions have had
            // these parameters since Windows Vista.
            // https://learn.microsoft.com/windows/win32/api/avrt/nf-avrt-avsetmmthreadcharacteristicsw
            // https://learn.microsoft.com/windows/win32/api/avrt/nf-avrt-avrevertmmthreadcharacteristics
            unsafe {
                let name = c"avrt.dll".as_ptr().cast();
                let library = LoadLibraryExA(name, ptr::null_mut(), LOAD_LIBRARY_SEARCH_SYSTEM32);
                if library.is_null() {
                    return None;
                }
                let set = GetProcAddress(library, c"AvSetMmThreadCharacteristicsW".as_ptr().cast())?;
                let revert = GetProcAddress(library, c"AvRevertMmThreadCharacteristics".as_ptr().cast())?;
                Some(Service {
                    set: std::mem::transmute::<unsafe extern "system" fn() -> isize, Set>(set),
                    revert: std::mem::transmute::<unsafe extern "system" fn() -> isize, Revert>(revert),
                })
            }
        })
    }
}

thread_local! {
    /// The registration of this thread, and how many guards hold it: a thread can register once.
    static REGISTERED: Cell<(Handle, usize)> = const { Cell::new((ptr::null_mut(), 0)) };
}

/// A registration of the calling thread, ended when the last guard is dropped.
#[derive(Debug)]
pub(crate) struct Multimedia(PhantomData<*const ()>);

/// Registers the calling thread under the task "Pro Audio".
pub(crate) fn hold_multimedia() -> (Option<Multimedia>, Outcome<Scheduling>) {
    let is = Scheduling::Multimedia;
    let (registration, guards) = REGISTERED.get();
    if guards > 0 {
        REGISTERED.set((registration, guards + 1));
        return (Some(Multimedia(PhantomData)), Outcome::AlreadyFiner { is });
    }
    let Some(service) = Service::get() else {
        let why = Why::Unsupported { what: "multimedia class scheduler (avrt.dll)" };
        return (None, Outcome::Denied(Denied { why, how: "request real-time scheduling instead" }));
    };
    let task: Vec<u16> = "Pro Audio\0".encode_utf16().collect();
    let mut index = 0;
    // SAFETY: the name ends with a zero, and the index is writable.
    let registration = unsafe { (service.set)(task.as_ptr(), &raw mut index) };
    if registration.is_null() {
        const HOW: &str = "start the service MMCSS, or request real-time scheduling instead";
        return (None, Outcome::Denied(denied("AvSetMmThreadCharacteristicsW", HOW)));
    }
    REGISTERED.set((registration, 1));
    (Some(Multimedia(PhantomData)), Outcome::Applied { was: Scheduling::Ordinary, now: is })
}

impl Drop for Multimedia {
    fn drop(&mut self) {
        // A registration ends with its thread.
        let _ = REGISTERED.try_with(|registered| {
            let (registration, guards) = registered.get();
            registered.set((registration, guards - 1));
            if guards == 1
                && let Some(service) = Service::get()
            {
                // SAFETY: this thread was given the registration, and ends it once.
                unsafe { (service.revert)(registration) };
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_registers_once_and_the_last_guard_ends_that() {
        let (first, outcome) = hold_multimedia();
        if let Some(denied) = outcome.denied() {
            return oversleep_testing::skip(denied);
        }
        let (second, outcome) = hold_multimedia();
        assert_eq!(outcome, Outcome::AlreadyFiner { is: Scheduling::Multimedia });
        drop(first);
        assert_eq!(REGISTERED.get().1, 1);
        drop(second);
        assert_eq!(REGISTERED.get().1, 0);
        // The thread can register again.
        assert!(matches!(hold_multimedia().1, Outcome::Applied { .. }));
    }
}
