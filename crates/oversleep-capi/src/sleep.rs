//! Sleeps that end on time.

use std::time::Duration;

use oversleep::{Instant, Slept as LibrarySlept, Waited};

use crate::UNKNOWN_NS;
use crate::boundary::handle::{self, Handle};
use crate::boundary::{self, growing};
use crate::outcome::{Change, Outcome};
use crate::status::Status;

/// Sleeps, and learns how late this machine wakes a thread. It learns best if one thread uses it for one kind of sleep.
/// It takes about 6 KiB.
pub struct Sleeper(Handle<oversleep::Sleeper>);

handle::opaque!(Sleeper: oversleep::Sleeper);

/// How a sleep went.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slept {
    /// `sizeof(oversleep_slept)`; set it before the call.
    pub size: usize,
    /// How long after the deadline the sleep ended, in nanoseconds.
    pub lateness_ns: u64,
    /// How long it spun before the deadline, in nanoseconds.
    pub spun_ns: u64,
    /// How long before the deadline the first wait was to end, in nanoseconds; `OVERSLEEP_UNKNOWN_NS` if there was
    /// none, because the deadline was too close.
    pub margin_ns: u64,
    /// The lateness of that wait, in nanoseconds; `OVERSLEEP_UNKNOWN_NS` if there was none.
    pub wake_lateness_ns: u64,
    /// How long before the deadline each of the short waits that followed was to end, in nanoseconds;
    /// `OVERSLEEP_UNKNOWN_NS` if it was skipped.
    pub approach_margin_ns: [u64; 2],
    /// The lateness of each of those waits, in nanoseconds; `OVERSLEEP_UNKNOWN_NS` if it was skipped.
    pub approach_lateness_ns: [u64; 2],
    /// The outcome of setting this thread's timer slack for the waits; `OVERSLEEP_OUTCOME_NOT_ASKED` if there was no
    /// wait.
    pub slack: Outcome,
    /// The outcome of setting this thread's time slice for the waits; `OVERSLEEP_OUTCOME_NOT_ASKED` if that was not
    /// tried, because no other thread seems to want the processor.
    pub slice: Outcome,
}

growing!(Slept);

impl From<LibrarySlept> for Slept {
    fn from(slept: LibrarySlept) -> Self {
        let margin_ns = |waited: Option<Waited>| waited.map_or(UNKNOWN_NS, |waited| waited.margin_ns);
        let lateness_ns = |waited: Option<Waited>| waited.map_or(UNKNOWN_NS, |waited| waited.lateness_ns);
        let outcome = |change: &Option<oversleep::Outcome<Duration>>| {
            change.as_ref().map_or(Outcome::NotAsked, |change| Change::of_time(change).outcome)
        };
        Self {
            size: size_of::<Self>(),
            lateness_ns: slept.lateness_ns,
            spun_ns: slept.spun_ns,
            margin_ns: margin_ns(slept.wait),
            wake_lateness_ns: lateness_ns(slept.wait),
            approach_margin_ns: slept.approaches.map(margin_ns),
            approach_lateness_ns: slept.approaches.map(lateness_ns),
            slack: outcome(&slept.slack),
            slice: outcome(&slept.slice),
        }
    }
}

/// Sleeps for at least `duration_ns` nanoseconds, and as little longer as this machine allows, with a sleeper of the
/// calling thread. See `oversleep_sleep_until_ns` for guarantees and costs.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_sleep_ns(duration_ns: u64) -> Status {
    boundary::status(|| {
        oversleep::sleep(Duration::from_nanos(duration_ns));
        Ok(Status::Ok)
    })
}

/// Sleeps until `deadline_ns`, a time of `oversleep_clock_now_ns`. Never returns `OVERSLEEP_STATUS_OK` before it, and
/// as little after it as this machine allows. Signals do not end the sleep. Returns at once if the deadline has passed.
///
/// Cost: the operating system wakes the thread a learned margin before the deadline, in one to three waits, and the
/// thread spins for the rest, for at most 600 microseconds. What is expected to cost least is done: what a wait costs is
/// measured, and a microsecond of lateness is worth 1 of CPU time, and 10 beyond the first 50. If a sandbox refuses every
/// wait, the thread yields in a loop.
///
/// On Linux the thread's timer slack is 1 ns during the waits, and beside busy threads its time slice is 100 microseconds
/// (Linux 6.12); a signal handler that jumps out of a sleep (siglongjmp) leaves them at that. A thread that never sleeps
/// pays one byte of thread-local storage.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_sleep_until_ns(deadline_ns: u64) -> Status {
    boundary::status(|| {
        oversleep::sleep_until(Instant::from_nanos(deadline_ns));
        Ok(Status::Ok)
    })
}

/// Creates a sleeper that has learned nothing yet. Free it with `oversleep_sleeper_free`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_sleeper_new(sleeper: *mut *mut Sleeper) -> Status {
    // SAFETY: the caller's pointer is null or writable.
    unsafe { handle::create(sleeper, || Ok(oversleep::Sleeper::new())) }
}

/// Sets the budget: the longest that a sleep may spin. The default is 600000 ns. With zero, a sleep is one wait until its
/// deadline, however short it is. What was learned is kept.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_sleeper_set_budget_ns(sleeper: *mut Sleeper, budget_ns: u64) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe {
        handle::change(sleeper, |sleeper| {
            *sleeper = sleeper.clone().with_budget(Duration::from_nanos(budget_ns));
            Ok(())
        })
    }
}

/// Sets the price of lateness: how many microseconds of CPU time a microsecond of lateness is worth. By
/// default there is no price: at most one sleep in a hundred is to be late, where that takes no more CPU time than a fixed
/// margin of 125 microseconds would.
/// With 50 a sleep in about 50 is late; with 1 about every second one is, by some microseconds, and little is spun.
/// Beyond the first 50 microseconds, lateness costs ten times as much. What was learned is kept.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_sleeper_set_price(sleeper: *mut Sleeper, price: u32) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe {
        handle::change(sleeper, |sleeper| {
            *sleeper = sleeper.clone().with_price(price);
            Ok(())
        })
    }
}

/// Sleeps for at least `duration_ns` nanoseconds. Writes how the sleep went, unless `slept` is NULL.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_sleeper_sleep_ns(
    sleeper: *mut Sleeper,
    duration_ns: u64,
    slept: *mut Slept,
) -> Status {
    // SAFETY: the caller's handle is null or alive, and its pointer is null or writable.
    unsafe { sleep_with(sleeper, slept, |s| s.sleep(Duration::from_nanos(duration_ns))) }
}

/// Sleeps until `deadline_ns`, with the guarantees of `oversleep_sleep_until_ns`. Writes how the sleep went, unless
/// `slept` is NULL.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_sleeper_sleep_until_ns(
    sleeper: *mut Sleeper,
    deadline_ns: u64,
    slept: *mut Slept,
) -> Status {
    // SAFETY: the caller's handle is null or alive, and its pointer is null or writable.
    unsafe { sleep_with(sleeper, slept, |s| s.sleep_until(Instant::from_nanos(deadline_ns))) }
}

unsafe fn sleep_with(
    sleeper: *mut Sleeper,
    slept: *mut Slept,
    sleep: impl FnOnce(&mut oversleep::Sleeper) -> LibrarySlept,
) -> Status {
    // SAFETY: the caller's pointer is null or writable, and its handle is null or alive.
    unsafe { boundary::fill_if_wanted(slept, || handle::with(sleeper, |sleeper| Ok(sleep(sleeper).into()))) }
}

/// Frees a sleeper. NULL is allowed.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_sleeper_free(sleeper: *mut Sleeper) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::free(sleeper, |_| Ok(())) }
}
