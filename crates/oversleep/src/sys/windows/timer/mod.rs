//! The process's timer resolution.
//!
//! The kernel keeps one request per process. `timeBeginPeriod` counts those of a process in whole milliseconds and passes
//! the shortest on; `NtSetTimerResolution`, on which it is built, replaces the request and takes it back whoever made it.
//! So whole milliseconds are asked for by the former, beside whatever else in the process asks. Below a millisecond there
//! is only the latter: it stands on a counted request for 1 ms, the shortest there is, so that nobody else's coming and
//! going changes the process's request meanwhile, and on return it goes back to that one.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windows_sys::Wdk::System::SystemInformation::NtQueryTimerResolution;
use windows_sys::Win32::Media::{TIMERR_NOERROR, timeBeginPeriod, timeEndPeriod};

use crate::outcome::{Denied, Outcome, Why};

use super::throttling::{self, Throttling};

#[link(name = "ntdll", kind = "raw-dylib")]
// SAFETY: as ntdll has exported it since Windows 2000: ULONG, BOOLEAN, PULONG.
unsafe extern "system" {
    // Not documented by the vendor.
    fn NtSetTimerResolution(desired: u32, set: u8, current: *mut u32) -> i32;
}

/// A millisecond in the kernel's units of 100 ns.
const MILLISECOND: u32 = 10_000;
/// Far above the default period: longer requests change as little.
const MS_MAX: u32 = 1_000;

/// The calls, so that tests can stand in for the system.
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
        // SAFETY: takes the number given before. https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timeendperiod
        unsafe { timeEndPeriod(ms) };
    }

    fn replace(&mut self, units: u32) -> Result<(), Why> {
        let mut now = 0;
        // SAFETY: `now` is valid to write to.
        let status = unsafe { NtSetTimerResolution(units, 1, &raw mut now) };
        if status < 0 { Err(Why::Failed { call: "NtSetTimerResolution", errno: status }) } else { Ok(()) }
    }
}

/// What this process asks for through this library.
#[derive(Debug)]
struct Requests {
    outstanding: usize,
    /// Those below a millisecond, in units of 100 ns.
    below: Vec<u32>,
    /// Power throttling as the first request found it; `None` where Windows has no such rule.
    throttling_before: Option<Throttling>,
}

static REQUESTS: Mutex<Requests> = Mutex::new(Requests::NONE);

fn requests() -> MutexGuard<'static, Requests> {
    REQUESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Requests {
    const NONE: Requests = Requests { outstanding: 0, below: Vec::new(), throttling_before: None };

    fn add(&mut self, system: &mut dyn System, asked: u32) -> Result<(), Why> {
        let ms = counted_ms(asked);
        system.begin(ms)?;
        if asked < MILLISECOND {
            let finest = self.below.iter().copied().fold(asked, u32::min);
            if let Err(why) = system.replace(finest) {
                system.end(ms);
                return Err(why);
            }
            self.below.push(asked);
        }
        self.outstanding += 1;
        Ok(())
    }

    fn remove(&mut self, system: &mut dyn System, asked: u32) {
        if let Some(index) = self.below.iter().position(|&other| other == asked) {
            self.below.swap_remove(index);
            // What was granted before is granted again, and drop has nobody to tell if not.
            let _ = system.replace(self.below.iter().copied().min().unwrap_or(MILLISECOND));
        }
        system.end(counted_ms(asked));
        self.outstanding -= 1;
    }
}

/// The counted request for that many units of 100 ns: never longer than what is asked, where that can be.
fn counted_ms(asked: u32) -> u32 {
    (asked / MILLISECOND).clamp(1, MS_MAX)
}

/// A request for a timer resolution, taken back on drop.
#[derive(Debug)]
pub(crate) struct Timer {
    asked: u32,
}

/// Asks for this timer period, and that it stays while the process's windows are hidden (Windows 11). The request is
/// held even where the resolution is as fine already, because that may end with another process, and where nothing came
/// of it, because that may change.
pub(crate) fn hold_timer(period: Duration) -> (Option<Timer>, Outcome<Duration>) {
    let asked = u32::try_from(period.as_nanos() / 100).unwrap_or(u32::MAX).max(1);
    let was = in_effect();
    let mut requests = requests();
    let asking = was.and_then(|was| requests.add(&mut Windows, asked).map(|()| was));
    let refused = |why| Outcome::Denied(Denied { why, how: "ask for a period between 0.5 and 15.6 ms" });
    match asking {
        Ok(was) => {
            if requests.outstanding == 1 {
                requests.throttling_before = throttling::opt_out();
            }
            let outcome = in_effect().map_or_else(refused, |now| became(asked, was, now));
            (Some(Timer { asked }), outcome)
        }
        Err(why) => (None, refused(why)),
    }
}

/// What the kernel grants may be shorter or longer than what is asked by as much: a step of its timer, 128 cycles of 24 MHz.
const STEP: u32 = 54;

/// What a request came to, by what was in effect before it and is now.
fn became(asked: u32, was: InEffect, now: InEffect) -> Outcome<Duration> {
    if now.period < was.period {
        return Outcome::Applied { was: span(was.period), now: span(now.period) };
    }
    if now.period <= asked.saturating_add(STEP) {
        return Outcome::AlreadyFiner { is: span(now.period) };
    }
    let why = Why::Ignored { call: if asked < MILLISECOND { "NtSetTimerResolution" } else { "timeBeginPeriod" } };
    let how = if now.period <= now.finest.saturating_add(STEP) {
        "ask for no less than the finest period of this machine"
    } else {
        "look what holds it back: battery saver, efficiency mode, a job's limits"
    };
    Outcome::Denied(Denied { why, how })
}

impl Drop for Timer {
    fn drop(&mut self) {
        let mut requests = requests();
        requests.remove(&mut Windows, self.asked);
        if requests.outstanding == 0
            && let Some(before) = requests.throttling_before.take()
        {
            throttling::put_back(&before);
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
    // SAFETY: the three numbers are valid to write to.
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
