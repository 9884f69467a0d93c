//! Sleeps that end on time.

use std::time::Duration;

use oversleep::{Instant, Slept as HowItWent, Waited};

use crate::UNKNOWN_NS;
use crate::boundary::handle::{self, Handle, Opaque};
use crate::boundary::{self, Place};
use crate::outcome::{Change, Outcome};
use crate::status::Status;

/// Sleeps, and learns how late this machine wakes a thread. It learns best when one thread uses it for one kind of
/// sleeps. It holds about 5 KiB.
pub struct Sleeper(Handle<oversleep::Sleeper>);

impl Opaque for Sleeper {
    type Value = oversleep::Sleeper;

    fn wrap(value: Handle<Self::Value>) -> Self {
        Self(value)
    }

    fn handle(&self) -> &Handle<Self::Value> {
        &self.0
    }
}

/// How a sleep went.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slept {
    /// How long after the deadline it ended, in nanoseconds.
    pub lateness_ns: u64,
    /// How long it spun towards the deadline, in nanoseconds.
    pub spun_ns: u64,
    /// How long before the deadline the operating system was asked to end the wait, in nanoseconds;
    /// `OVERSLEEP_UNKNOWN_NS` when there was no wait, because the deadline was too close.
    pub margin_ns: u64,
    /// How late that wake-up came, in nanoseconds; `OVERSLEEP_UNKNOWN_NS` when none was asked for.
    pub wake_lateness_ns: u64,
    /// How long before the deadline the short waits for what that one left were to end; `OVERSLEEP_UNKNOWN_NS` where there
    /// was none.
    pub approach_margin_ns: [u64; 2],
    /// How late the wake-ups from the short waits came; `OVERSLEEP_UNKNOWN_NS` where there was none.
    pub approach_lateness_ns: [u64; 2],
    /// What became of setting this thread's timer slack for the waits; `OVERSLEEP_OUTCOME_NOT_ASKED` when there was none.
    pub slack: Outcome,
    /// Zero.
    pub reserved: [u32; 5],
}

impl From<HowItWent> for Slept {
    fn from(slept: HowItWent) -> Self {
        let margin_ns = |waited: Option<Waited>| waited.map_or(UNKNOWN_NS, |waited| waited.margin_ns);
        let lateness_ns = |waited: Option<Waited>| waited.map_or(UNKNOWN_NS, |waited| waited.lateness_ns);
        Self {
            lateness_ns: slept.lateness_ns,
            spun_ns: slept.spun_ns,
            margin_ns: margin_ns(slept.wait),
            wake_lateness_ns: lateness_ns(slept.wait),
            approach_margin_ns: slept.approaches.map(margin_ns),
            approach_lateness_ns: slept.approaches.map(lateness_ns),
            slack: slept.slack.map_or(Outcome::NotAsked, |slack| Change::of_time(&slack).outcome),
            reserved: [0; 5],
        }
    }
}

/// Sleeps for at least `duration_ns` nanoseconds, and as little longer as this machine allows, with a sleeper that
/// belongs to the calling thread. See `oversleep_sleep_until_ns`.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_sleep_ns(duration_ns: u64) -> Status {
    boundary::status(|| {
        oversleep::sleep(Duration::from_nanos(duration_ns));
        Ok(Status::Ok)
    })
}

/// Sleeps until `deadline_ns`, a time of `oversleep_clock_now_ns`; never returns `OVERSLEEP_STATUS_OK` before it, and as
/// little after it as this machine allows. Signals do not end it. A deadline in the past returns at once.
///
/// Cost: the operating system wakes the thread a learned margin before the deadline, up to thrice where that is more
/// exact, and the thread spins for what is left: usually about 16 microseconds, and no more than 64 where the system ends
/// short waits exactly; elsewhere no more than the median lateness, a sixteenth and 16 microseconds. A sleep of up to 80
/// microseconds that can't be waited for is spun. On Linux the thread's timer slack is 1 ns meanwhile; a signal handler
/// that jumps out of a sleep (siglongjmp) leaves it so. Where a sandbox refuses every wait, the thread yields in a loop.
/// Uses a sleeper that belongs to the calling thread: 5 KiB of thread-local storage in every thread of the process.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_sleep_until_ns(deadline_ns: u64) -> Status {
    boundary::status(|| {
        oversleep::sleep_until(Instant::from_nanos(deadline_ns));
        Ok(Status::Ok)
    })
}

/// Makes a sleeper that has learned nothing yet. Free it with `oversleep_sleeper_free`.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_sleeper_new(sleeper: *mut *mut Sleeper) -> Status {
    // SAFETY: the caller's pointer is null or can be written to.
    boundary::status(|| unsafe { handle::create(sleeper, || Ok(oversleep::Sleeper::new())) })
}

/// Changes how far the margin of what is spun reaches beyond the median lateness of wake-ups, from 16000 ns. With zero
/// half of the sleeps that are waited for end late by what the operating system's wake-ups vary; up to 8 microseconds are
/// spun all the same. What was learned stays.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_sleeper_set_budget_ns(sleeper: *mut Sleeper, budget_ns: u64) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's handle is null or alive.
        unsafe {
            handle::with(sleeper, |sleeper| {
                *sleeper = sleeper.clone().with_budget(Duration::from_nanos(budget_ns));
                Ok(Status::Ok)
            })
        }
    })
}

/// Sleeps for at least `duration_ns` nanoseconds. Writes how it went, unless `slept` is NULL.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_sleeper_sleep_ns(
    sleeper: *mut Sleeper,
    duration_ns: u64,
    slept: *mut Slept,
) -> Status {
    // SAFETY: the caller's handle is null or alive, and its pointer null or can be written to.
    boundary::status(|| unsafe { sleep_with(sleeper, slept, |s| s.sleep(Duration::from_nanos(duration_ns))) })
}

/// Sleeps until `deadline_ns`, with the promises of `oversleep_sleep_until_ns`. Writes how it went, unless `slept` is
/// NULL.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_sleeper_sleep_until_ns(
    sleeper: *mut Sleeper,
    deadline_ns: u64,
    slept: *mut Slept,
) -> Status {
    // SAFETY: the caller's handle is null or alive, and its pointer null or can be written to.
    boundary::status(|| unsafe { sleep_with(sleeper, slept, |s| s.sleep_until(Instant::from_nanos(deadline_ns))) })
}

unsafe fn sleep_with(
    sleeper: *mut Sleeper,
    slept: *mut Slept,
    sleep: impl FnOnce(&mut oversleep::Sleeper) -> HowItWent,
) -> Result<Status, Status> {
    // SAFETY: the caller's pointer is null or can be written to, and its handle null or alive.
    let (place, how) = unsafe { (Place::optional(slept)?, handle::with(sleeper, |sleeper| Ok(sleep(sleeper)))?) };
    if let Some(place) = place {
        place.put(how.into());
    }
    Ok(Status::Ok)
}

/// Frees a sleeper. NULL is fine.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_sleeper_free(sleeper: *mut Sleeper) -> Status {
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { handle::free(sleeper, |_| Ok(())) })
}
