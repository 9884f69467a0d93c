//! How a wait is tried once when it is opened, so that a call which doesn't work here says so before it is measured, and
//! how calls end.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{WaitEnd, WaitInfo, Waiter};
use windows_sys::Win32::Foundation::{ERROR_TIMEOUT, GetLastError, WAIT_FAILED, WAIT_TIMEOUT};

use crate::native::waits::proved_by;
use crate::windows::{Windows, os};

pub(super) use crate::native::waits::{Stateless, thread_sleep};

/// Opens `waiter` after a wait of zero, which runs the same code and takes no tick.
pub(super) fn proved_at_once(waiter: impl Waiter + 'static) -> Result<Box<dyn Waiter>, Unavailable> {
    proved_by::<Windows>(waiter, Nanos::ZERO)
}

/// As [`proved_at_once`], for calls that are not made for a span of zero: after the shortest wait there is.
pub(super) fn proved(waiter: impl Waiter + 'static) -> Result<Box<dyn Waiter>, Unavailable> {
    proved_by::<Windows>(waiter, Nanos(1))
}

/// How a wait for kernel objects with a timeout ended, by what it returned.
pub(super) fn ended(info: &'static WaitInfo, returned: u32) -> WaitEnd {
    match returned {
        WAIT_TIMEOUT => WaitEnd::TimedOut,
        WAIT_FAILED => failed(info),
        // An object that nobody else knows was signalled, or a call queued to this thread ran.
        _ => WaitEnd::Interrupted,
    }
}

/// How a wait ended that returns whether it was woken, and leaves an error that says "timeout" otherwise.
pub(super) fn ended_unless_woken(info: &'static WaitInfo, woken: i32) -> WaitEnd {
    if woken != 0 {
        return WaitEnd::Interrupted;
    }
    // SAFETY: takes nothing. https://learn.microsoft.com/windows/win32/api/errhandlingapi/nf-errhandlingapi-getlasterror
    match unsafe { GetLastError() } {
        ERROR_TIMEOUT | WAIT_TIMEOUT => WaitEnd::TimedOut,
        _ => failed(info),
    }
}

/// The end of a wait whose call failed.
#[cold]
pub(super) fn failed(info: &'static WaitInfo) -> WaitEnd {
    WaitEnd::Failed(os::failed(info.call))
}

/// The end of a wait whose span exceeds its argument's range: the wait is refused, because a shorter one would be early.
#[cold]
pub(super) fn too_long(info: &'static WaitInfo) -> WaitEnd {
    WaitEnd::Failed(Unavailable::failed(info.call, "the span is longer than its argument can say"))
}
