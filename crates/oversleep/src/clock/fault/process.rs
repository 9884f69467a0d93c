//! Faults of the counter that this process's [`Clock`](crate::Clock) reads. A fault and the demotion that follows last
//! until the process ends, so each test needs its own process.
//!
//! ```
//! use oversleep::Clock;
//! use oversleep::clock::fault::process;
//!
//! let before = Clock::now_ordered();
//! process::shift_all(-50_000_000);
//! assert!(Clock::now_ordered() >= before);
//! ```

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

use super::machine::OTHER;
use crate::clock::CLOCK;
use crate::clock::reason::{Clocksource, Reason};

/// Whether there is any fault.
static IS_FAULTY: AtomicBool = AtomicBool::new(false);
static OFFSET: AtomicI64 = AtomicI64::new(0);
static DRIFT_PPM: AtomicI64 = AtomicI64::new(0);
static DRIFT_FROM: AtomicU64 = AtomicU64::new(0);
static STOPPED_AT: AtomicU64 = AtomicU64::new(u64::MAX);
static OBJECTS: AtomicBool = AtomicBool::new(false);

thread_local! {
    static OFFSET_HERE: Cell<i64> = const { Cell::new(0) };
}

/// Moves the counter as this thread reads it, by nanoseconds, as if the thread ran on a processor whose counter is
/// wrong. Changes nothing if no counter is in use.
///
/// ```
/// oversleep::clock::fault::process::shift_here(30_000);
/// ```
pub fn shift_here(ns: i64) {
    OFFSET_HERE.set(OFFSET_HERE.get() + ticks_of(ns));
    IS_FAULTY.store(true, Relaxed);
}

/// Moves the counter as all threads read it, as a migration or a restored snapshot may.
///
/// ```
/// oversleep::clock::fault::process::shift_all(-5_000_000);
/// ```
pub fn shift_all(ns: i64) {
    OFFSET.fetch_add(ticks_of(ns), Relaxed);
    IS_FAULTY.store(true, Relaxed);
}

/// Changes the counter's rate from now on, by parts per million.
///
/// ```
/// oversleep::clock::fault::process::drift(200);
/// ```
pub fn drift(ppm: i64) {
    DRIFT_FROM.store(crate::sys::counter::ticks(), Relaxed);
    DRIFT_PPM.store(ppm, Relaxed);
    IS_FAULTY.store(true, Relaxed);
}

/// Stops the counter.
///
/// ```
/// oversleep::clock::fault::process::stop();
/// ```
pub fn stop() {
    STOPPED_AT.store(crate::sys::counter::ticks(), Relaxed);
    IS_FAULTY.store(true, Relaxed);
}

/// Makes the kernel appear to keep time by another clock source from now on.
///
/// ```
/// oversleep::clock::fault::process::change_clocksource();
/// ```
pub fn change_clocksource() {
    OBJECTS.store(true, Relaxed);
}

/// The value that the clock uses instead of these ticks.
#[inline]
pub(in crate::clock) fn instead_of(ticks: u64) -> u64 {
    if IS_FAULTY.load(Relaxed) { faulty(ticks) } else { ticks }
}

#[cold]
fn faulty(ticks: u64) -> u64 {
    let ticks = ticks.min(STOPPED_AT.load(Relaxed));
    let drifted = match DRIFT_PPM.load(Relaxed) {
        0 => 0,
        ppm => i128::from(ticks.saturating_sub(DRIFT_FROM.load(Relaxed))) * i128::from(ppm) / 1_000_000,
    };
    let here = OFFSET_HERE.try_with(Cell::get).unwrap_or(0);
    ticks.wrapping_add_signed(OFFSET.load(Relaxed) + here + drifted as i64)
}

/// The kernel's objection, if it has changed its clock source.
pub(in crate::clock) fn objection() -> Option<Reason> {
    OBJECTS.load(Relaxed).then(|| Reason::KernelPrefers { clocksource: Clocksource::new(OTHER) })
}

fn ticks_of(ns: i64) -> i64 {
    let ticks = CLOCK.counter_state().map_or(0, |state| state.track.rate.ticks(ns.unsigned_abs()));
    i64::try_from(ticks).unwrap_or(i64::MAX) * ns.signum()
}
