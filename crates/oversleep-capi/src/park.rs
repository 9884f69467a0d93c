//! Waiting for another thread until an exact deadline.

use std::time::Duration;

use oversleep::{Instant, Unparker};

use crate::boundary::handle::{self, Handle, Opaque};
use crate::boundary::{self, growing};
use crate::status::Status;

/// Parks its thread until another one unparks it, or until a deadline. One thread parks at a time; any thread may unpark
/// at any time. Unparking leaves a token, at most one, which the next park takes at once.
pub struct Parker {
    handle: Handle<oversleep::Parker>,
    unparker: Unparker,
}

impl Opaque for Parker {
    type Value = oversleep::Parker;

    fn wrap(value: Handle<oversleep::Parker>) -> Self {
        let unparker = value.with(|parker| Ok(parker.unparker())).expect("nobody else has this handle yet");
        Self { handle: value, unparker }
    }

    fn handle(&self) -> &Handle<oversleep::Parker> {
        &self.handle
    }
}

/// What ended a park.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Woken {
    /// `sizeof(oversleep_woken)`; set it before the call.
    pub size: usize,
    /// How long after its deadline the park ended, in nanoseconds; `OVERSLEEP_UNKNOWN_NS` if another thread ended it.
    pub lateness_ns: u64,
}

growing!(Woken);

impl From<oversleep::Woken> for Woken {
    fn from(woken: oversleep::Woken) -> Self {
        let lateness_ns = match woken {
            oversleep::Woken::Notified => crate::UNKNOWN_NS,
            oversleep::Woken::AtDeadline { lateness_ns } => lateness_ns,
        };
        Self { size: size_of::<Self>(), lateness_ns }
    }
}

/// Creates a parker without a token. Free it with `oversleep_parker_free`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_parker_new(parker: *mut *mut Parker) -> Status {
    // SAFETY: the caller's pointer is null or writable.
    unsafe { handle::create(parker, || Ok(oversleep::Parker::new())) }
}

/// Parks the calling thread until another one unparks it. There are no spurious wake-ups. The thread then sees all
/// memory that the other one wrote before.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_parker_park(parker: *mut Parker) -> Status {
    let park = |parker: &mut oversleep::Parker| {
        parker.park();
        Ok(())
    };
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::change(parker, park) }
}

/// Parks the calling thread until another one unparks it, or until `deadline_ns`, a time of `oversleep_clock_now_ns`:
/// never earlier, and as little later as `oversleep_sleep_until_ns`. Writes which it was, unless `woken` is NULL.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_parker_park_until_ns(
    parker: *mut Parker,
    deadline_ns: u64,
    woken: *mut Woken,
) -> Status {
    let park = |parker: &mut oversleep::Parker| Ok(parker.park_until(Instant::from_nanos(deadline_ns)).into());
    // SAFETY: the caller's pointer is null or writable, and its handle is null or alive.
    unsafe { boundary::fill_if_wanted(woken, || handle::with(parker, park)) }
}

/// Parks the calling thread until another one unparks it, or for `timeout_ns` nanoseconds; otherwise as
/// `oversleep_parker_park_until_ns`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_parker_park_timeout_ns(
    parker: *mut Parker,
    timeout_ns: u64,
    woken: *mut Woken,
) -> Status {
    let park = |parker: &mut oversleep::Parker| Ok(parker.park_timeout(Duration::from_nanos(timeout_ns)).into());
    // SAFETY: the caller's pointer is null or writable, and its handle is null or alive.
    unsafe { boundary::fill_if_wanted(woken, || handle::with(parker, park)) }
}

/// Ends the parker's park, or the next one at once if no thread is parked. Any thread may call this at any time.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_parker_unpark(parker: *const Parker) -> Status {
    boundary::status(|| {
        // SAFETY: `check` refuses null, and otherwise the caller guarantees that it is alive. The unparker is shared.
        let unparker = unsafe { &(*handle::check(parker)?).unparker };
        unparker.unpark();
        Ok(Status::Ok)
    })
}

/// Frees a parker. NULL is allowed. No thread may be about to unpark it.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_parker_free(parker: *mut Parker) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::free(parker, |_| Ok(())) }
}
