//! Loops at a fixed rate.

use std::time::Duration;

use oversleep::Instant;

use crate::boundary::handle::{self, Handle, Opaque};
use crate::boundary::{self, Place};
use crate::status::Status;

/// Runs a loop at a fixed rate. Deadlines lie on a grid, start + k * period, worked out in exact integers, so that
/// nothing accumulates.
pub struct Pacer(Handle<oversleep::Pacer>);

impl Opaque for Pacer {
    type Value = oversleep::Pacer;

    fn wrap(value: Handle<Self::Value>) -> Self {
        Self(value)
    }

    fn handle(&self) -> &Handle<Self::Value> {
        &self.0
    }
}

/// What a pacer does when the caller comes back after one or more whole periods have passed.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// Late periods but the latest are left out and counted, and the grid stays as it is: for frames and polls, of which
    /// only the present one matters. This is what a new pacer does.
    Skip = 0,
    /// Every period is delivered, the late ones at once, one after the other: for work that must be done as often as
    /// periods pass, such as producing samples.
    CatchUp = 1,
    /// The late period is delivered, and the grid starts anew from now, so that a whole period follows: for work that
    /// needs time to recover. The loop falls behind by what was missed, which is counted.
    Delay = 2,
}

impl Missed {
    fn from_number(number: i32) -> Result<oversleep::Missed, Status> {
        const ALL: [(Missed, oversleep::Missed); 3] = [
            (Missed::Skip, oversleep::Missed::Skip),
            (Missed::CatchUp, oversleep::Missed::CatchUp),
            (Missed::Delay, oversleep::Missed::Delay),
        ];
        let known = ALL.into_iter().find(|&(policy, _)| policy as i32 == number);
        known.map(|(_, policy)| policy).ok_or(Status::InvalidArgument)
    }
}

/// A period that has come.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// Which period this is, counted from the start; the first to be delivered is 1.
    pub period: u64,
    /// When it was due, in nanoseconds on the line of `oversleep_clock_now_ns`.
    pub deadline_ns: u64,
    /// How long after that it was delivered, in nanoseconds.
    pub lateness_ns: u64,
    /// Periods left out between the one delivered before and this one.
    pub missed: u64,
    /// Zero.
    pub reserved: [u64; 2],
}

impl From<oversleep::Beat> for Beat {
    fn from(beat: oversleep::Beat) -> Self {
        Self {
            period: beat.period,
            deadline_ns: beat.deadline.as_nanos(),
            lateness_ns: beat.lateness_ns,
            missed: beat.missed,
            reserved: [0; 2],
        }
    }
}

/// Makes a loop with a period of `period_ns` nanoseconds, 1 or more, that starts now: the first deadline is one period
/// away. Free it with `oversleep_pacer_free`.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_new_every_ns(period_ns: u64, pacer: *mut *mut Pacer) -> Status {
    let make = || match period_ns {
        0 => Err(Status::InvalidArgument),
        _ => Ok(oversleep::Pacer::every(Duration::from_nanos(period_ns))),
    };
    // SAFETY: the caller's pointer is null or can be written to.
    boundary::status(|| unsafe { handle::create(pacer, make) })
}

/// Makes a loop that runs `rate` times a second, 1 to 10^9, exactly, also where a second can't be divided by it. It
/// starts now. Free it with `oversleep_pacer_free`.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_new_per_second(rate: u32, pacer: *mut *mut Pacer) -> Status {
    let make = || match rate {
        1..=1_000_000_000 => Ok(oversleep::Pacer::per_second(rate)),
        _ => Err(Status::InvalidArgument),
    };
    // SAFETY: the caller's pointer is null or can be written to.
    boundary::status(|| unsafe { handle::create(pacer, make) })
}

/// Moves the grid's start: two loops with the same start and period keep step. Periods are counted anew from it, the missed
/// ones, too, also in a loop that has run: the next to be delivered is period 1, or, where the start is past, what the policy
/// makes of those that are due already.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_set_start_ns(pacer: *mut Pacer, start_ns: u64) -> Status {
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { change(pacer, |pacer| Ok(pacer.starting_at(Instant::from_nanos(start_ns)))) })
}

/// Chooses what happens to missed periods: an `oversleep_missed`.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_set_missed(pacer: *mut Pacer, policy: i32) -> Status {
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { change(pacer, |pacer| Ok(pacer.on_missed(Missed::from_number(policy)?))) })
}

/// Changes how far the margin of what is spun reaches beyond the median lateness of wake-ups, from 16000 ns. What was
/// learned about waits is forgotten.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_set_budget_ns(pacer: *mut Pacer, budget_ns: u64) -> Status {
    let sleeper = || oversleep::Sleeper::new().with_budget(Duration::from_nanos(budget_ns));
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { change(pacer, |pacer| Ok(pacer.with_sleeper(sleeper()))) })
}

unsafe fn change(
    pacer: *mut Pacer,
    change: impl FnOnce(oversleep::Pacer) -> Result<oversleep::Pacer, Status>,
) -> Result<Status, Status> {
    // SAFETY: the caller's handle is null or alive.
    unsafe {
        handle::with(pacer, |pacer| {
            *pacer = change(pacer.clone())?;
            Ok(Status::Ok)
        })
    }
}

/// Waits for the next period, with the costs and promises of `oversleep_sleep_until_ns`; returns at once when it is due
/// already. Writes which period came, how late, and what was missed, unless `beat` is NULL.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_wait(pacer: *mut Pacer, beat: *mut Beat) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's pointer is null or can be written to.
        let place = unsafe { Place::optional(beat)? };
        // SAFETY: the caller's handle is null or alive.
        let came = unsafe { handle::with(pacer, |pacer| Ok(pacer.wait()))? };
        if let Some(place) = place {
            place.put(came.into());
        }
        Ok(Status::Ok)
    })
}

/// Delivers the next period if it is due already, as `oversleep_pacer_wait` does, without waiting:
/// `OVERSLEEP_STATUS_NONE` when it is not.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_poll(pacer: *mut Pacer, beat: *mut Beat) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's pointer is null or can be written to.
        let place = unsafe { Place::optional(beat)? };
        // SAFETY: the caller's handle is null or alive.
        let came = unsafe { handle::with(pacer, |pacer| pacer.poll().ok_or(Status::None))? };
        if let Some(place) = place {
            place.put(came.into());
        }
        Ok(Status::Ok)
    })
}

/// Writes when the next period is due, in nanoseconds.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_next_deadline_ns(pacer: *const Pacer, deadline_ns: *mut u64) -> Status {
    // SAFETY: the caller's handle is null or alive, and its pointer null or can be written to.
    boundary::status(|| unsafe { ask(pacer, deadline_ns, |pacer| pacer.next_deadline().as_nanos()) })
}

/// Writes when the given period is due, in nanoseconds. Periods are counted from the grid's start, which is period 0 and
/// never delivered.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_deadline_of_ns(
    pacer: *const Pacer,
    period: u64,
    deadline_ns: *mut u64,
) -> Status {
    // SAFETY: the caller's handle is null or alive, and its pointer null or can be written to.
    boundary::status(|| unsafe { ask(pacer, deadline_ns, |pacer| pacer.deadline_of(period).as_nanos()) })
}

/// Writes how many periods were left out since the start. Together with the periods delivered they are those that have passed.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_missed(pacer: *const Pacer, missed: *mut u64) -> Status {
    // SAFETY: the caller's handle is null or alive, and its pointer null or can be written to.
    boundary::status(|| unsafe { ask(pacer, missed, |pacer| pacer.missed()) })
}

unsafe fn ask(
    pacer: *const Pacer,
    place: *mut u64,
    question: impl FnOnce(&oversleep::Pacer) -> u64,
) -> Result<Status, Status> {
    // SAFETY: the caller's pointer is null or can be written to, and its handle null or alive.
    let (place, answer) = unsafe { (Place::required(place)?, handle::with(pacer, |pacer| Ok(question(pacer)))?) };
    place.put(answer);
    Ok(Status::Ok)
}

/// Frees a pacer. NULL is fine.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_free(pacer: *mut Pacer) -> Status {
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { handle::free(pacer, |_| Ok(())) })
}
