//! What an entry of the table is, how it is opened, and how its calls end.

use oversleep_record::{Nanos, Unavailable};
use windows_sys::Win32::Foundation::{ERROR_TIMEOUT, GetLastError, WAIT_FAILED, WAIT_TIMEOUT};

use crate::platform::windows::os;
use crate::platform::{SharedPlatform, Target, Wait, WaitEnd, WaitInfo, Waiter};

/// One entry of the table.
pub(super) struct Entry {
    /// What is known of it.
    pub(super) info: WaitInfo,
    /// Opens it for the calling thread.
    pub(super) open: fn() -> Result<Box<dyn Waiter>, Unavailable>,
}

impl Wait for &'static Entry {
    fn info(&self) -> &WaitInfo {
        &self.info
    }

    fn open(&self, _platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        (self.open)()
    }
}

/// A wait that holds nothing. The call is a type of its own, so that it is inlined and [`Waiter::wait`] stays the only
/// indirection.
pub(super) struct Stateless<F>(pub(super) F);

impl<F: Fn(Target) -> WaitEnd> Waiter for Stateless<F> {
    fn wait(&mut self, target: Target) -> WaitEnd {
        (self.0)(target)
    }
}

/// Boxes `waiter` after one wait of nothing, which takes the same way in and out and no tick, so that a call which
/// can't work here says so when it is opened and not in the middle of a measurement.
pub(super) fn proved_at_once(waiter: impl Waiter + 'static) -> Result<Box<dyn Waiter>, Unavailable> {
    proved_by(waiter, Nanos::ZERO)
}

/// [`proved_at_once`] for waits that don't begin where there is nothing to wait for: by the shortest there is.
pub(super) fn proved(waiter: impl Waiter + 'static) -> Result<Box<dyn Waiter>, Unavailable> {
    proved_by(waiter, Nanos(1))
}

fn proved_by(mut waiter: impl Waiter + 'static, remaining: Nanos) -> Result<Box<dyn Waiter>, Unavailable> {
    match waiter.wait(Target { remaining, deadline: os::now() + remaining }) {
        WaitEnd::Failed(reason) => Err(reason),
        WaitEnd::TimedOut | WaitEnd::Interrupted => Ok(Box::new(waiter)),
    }
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

/// The end of a wait whose call left an error.
#[cold]
pub(super) fn failed(info: &'static WaitInfo) -> WaitEnd {
    WaitEnd::Failed(os::failed(info.call))
}

/// The end of a wait whose span exceeds what its argument can say: it is not begun rather than cut.
#[cold]
pub(super) fn too_long(info: &'static WaitInfo) -> WaitEnd {
    WaitEnd::Failed(Unavailable::failed(info.call, "the span is longer than its argument can say"))
}
