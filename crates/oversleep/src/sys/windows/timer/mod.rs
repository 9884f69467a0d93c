//! The process's timer resolution.
//!
//! The kernel keeps one request per process. `timeBeginPeriod` counts the process's requests in whole milliseconds and
//! passes on the shortest. It is built on `NtSetTimerResolution`, which replaces or withdraws the request, whoever made
//! it.
//!
//! So this library requests whole milliseconds by `timeBeginPeriod`, next to the rest of the process. Below a
//! millisecond only `NtSetTimerResolution` works. A counted request for 1 ms, the shortest, accompanies it, so that
//! other requests of the process don't change it meanwhile; on release the process falls back to that one.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windows_sys::Wdk::System::SystemInformation::NtQueryTimerResolution;
use windows_sys::Win32::Media::{TIMERR_NOERROR, timeBeginPeriod, timeEndPeriod};

use super::throttling::{self, Throttling};
use crate::outcome::{Denied, Outcome, Why};

#[link(name = "ntdll", kind = "raw-dylib")]
// SAFETY: as ntdll has exported it since Windows 2000: ULONG, BOOLEAN, PULONG.
unsafe extern "system" {
    // Not documented by the vendor.
    fn NtSetTimerResolution(desired: u32, set: u8, current: *mut u32) -> i32;
}

/// A millisecond in the kernel's units of 100 ns.
const MILLISECOND: u32 = 10_000;
/// Far above the default period, where longer requests make no difference.
const MS_MAX: u32 = 1_000;

/// The system's calls, which tests replace.
trait System {
    fn begin(&mut self, ms: u32) -> Result<(), Why>;
    fn end(&mut self, ms: u32);
    fn replace(&mut self, units: u32) -> Result<(), Why>;
}

struct Windows;

impl System for Windows {
    fn begin(&mut self, ms: u32) -> Result<(), Why> {
        // SAFETY: takes a number. https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod
        match unsafe { timeBeginPeriod(ms) } {
            TIMERR_NOERROR => Ok(()),
            code => Err(Why::Failed { call: "timeBeginPeriod", errno: code as i32 }),
        }
    }

    fn end(&mut self, ms: u32) {
        // SAFETY: takes the number given before.
        // https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timeendperiod
        unsafe { timeEndPeriod(ms) };
    }

    fn replace(&mut self, units: u32) -> Result<(), Why> {
        let mut now = 0;
        // SAFETY: `now` is writable.
        let status = unsafe { NtSetTimerResolution(units, 1, &raw mut now) };
        if status < 0 { Err(Why::Failed { call: "NtSetTimerResolution", errno: status }) } else { Ok(()) }
    }
}

/// The requests of this process through this library.
#[derive(Debug)]
struct Requests {
    outstanding: usize,
    /// Requests below a millisecond, in units of 100 ns.
    below: Vec<u32>,
    /// Power throttling before the first request; `None` if this Windows has no such rule.
    throttling_before: Option<Throttling>,
}

static REQUESTS: Mutex<Requests> = Mutex::new(Requests::NONE);

fn requests() -> MutexGuard<'static, Requests> {
    REQUESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Requests {
    const NONE: Requests = Requests { outstanding: 0, below: Vec::new(), throttling_before: None };

    fn add(&mut self, system: &mut dyn System, requested: u32) -> Result<(), Why> {
        let ms = counted_ms(requested);
        system.begin(ms)?;
        if requested < MILLISECOND {
            let finest = self.below.iter().copied().fold(requested, u32::min);
            if let Err(why) = system.replace(finest) {
                system.end(ms);
                return Err(why);
            }
            self.below.push(requested);
        }
        self.outstanding += 1;
        Ok(())
    }

    fn remove(&mut self, system: &mut dyn System, requested: u32) {
        if let Some(index) = self.below.iter().position(|&other| other == requested) {
            self.below.swap_remove(index);
            // This was granted before, and drop can't report a failure.
            let _ = system.replace(self.below.iter().copied().min().unwrap_or(MILLISECOND));
        }
        system.end(counted_ms(requested));
        self.outstanding -= 1;
    }
}

/// The counted request in milliseconds for a request in units of 100 ns, never longer unless that is below 1 ms.
fn counted_ms(requested: u32) -> u32 {
    (requested / MILLISECOND).clamp(1, MS_MAX)
}

/// A request for a timer resolution, withdrawn on drop.
#[derive(Debug)]
pub(crate) struct Timer {
    requested: u32,
}

/// Requests this timer resolution, even while the process's windows are hidden (Windows 11). The request is held even
/// if the resolution is already as fine, because another process may end it, or if it had no effect, because that may
/// change.
pub(crate) fn hold_timer(period: Duration) -> (Option<Timer>, Outcome<Duration>) {
    let requested = u32::try_from(period.as_nanos() / 100).unwrap_or(u32::MAX).max(1);
    let was = in_effect();
    let mut requests = requests();
    let request = was.and_then(|was| requests.add(&mut Windows, requested).map(|()| was));
    let refused = |why| Outcome::Denied(Denied { why, how: "request a period between 0.5 and 15.6 ms" });
    match request {
        Ok(was) => {
            if requests.outstanding == 1 {
                requests.throttling_before = throttling::opt_out();
            }
            let outcome = in_effect().map_or_else(refused, |now| outcome(requested, was, now));
            (Some(Timer { requested }), outcome)
        }
        Err(why) => (None, refused(why)),
    }
}

/// The granted period may differ from the requested one by a step of the kernel's timer, 128 cycles of 24 MHz, in units
/// of 100 ns.
const STEP: u32 = 54;

/// The outcome of a request, from the periods in effect before and after it.
fn outcome(requested: u32, was: InEffect, now: InEffect) -> Outcome<Duration> {
    if now.period < was.period {
        return Outcome::Applied { was: span(was.period), now: span(now.period) };
    }
    if now.period <= requested.saturating_add(STEP) {
        return Outcome::AlreadyFiner { is: span(now.period) };
    }
    let why = Why::Ignored { call: if requested < MILLISECOND { "NtSetTimerResolution" } else { "timeBeginPeriod" } };
    let how = if now.period <= now.finest.saturating_add(STEP) {
        "request no less than the finest period of this machine"
    } else {
        "check what prevents it: battery saver, efficiency mode, or the limits of a job"
    };
    Outcome::Denied(Denied { why, how })
}

impl Drop for Timer {
    fn drop(&mut self) {
        let mut requests = requests();
        requests.remove(&mut Windows, self.requested);
        if requests.outstanding == 0
            && let Some(before) = requests.throttling_before.take()
        {
            throttling::restore(&before);
        }
    }
}

/// Periods in units of 100 ns.
#[derive(Clone, Copy, Debug)]
struct InEffect {
    finest: u32,
    period: u32,
}

fn in_effect() -> Result<InEffect, Why> {
    let (mut coarsest, mut finest, mut now) = (0, 0, 0);
    // SAFETY: the three numbers are writable.
    // https://learn.microsoft.com/windows-hardware/drivers/ddi/wdm/nf-wdm-exquerytimerresolution has the same values.
    let status = unsafe { NtQueryTimerResolution(&raw mut coarsest, &raw mut finest, &raw mut now) };
    if status < 0 {
        return Err(Why::Failed { call: "NtQueryTimerResolution", errno: status });
    }
    Ok(InEffect { finest, period: now })
}

fn span(units: u32) -> Duration {
    Duration::from_nanos(u64::from(units) * 100)
}

#[cfg(test)]
mod tests;
