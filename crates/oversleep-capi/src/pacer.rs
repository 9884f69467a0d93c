//! Loops at a fixed rate.

use std::time::Duration;

use oversleep::Instant;

use crate::boundary::handle::{self, Handle};
use crate::boundary::{self, growing};
use crate::status::Status;

/// Runs a loop at a fixed rate. Deadlines lie on a grid, start + k * period, computed in exact integers, so no error
/// accumulates.
pub struct Pacer(Handle<oversleep::Pacer>);

handle::opaque!(Pacer: oversleep::Pacer);

/// What a pacer does about whole periods that passed before you called it again.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// Delivers only the latest of the late periods and counts the others; the grid stays as it is. For frames and
    /// polls, where only the current one matters. This is the default.
    Skip = 0,
    /// Delivers every period, the late ones immediately one after the other. For work that must be done once per
    /// period, such as producing samples.
    CatchUp = 1,
    /// Delivers the late period and restarts the grid from now, so that a whole period follows. For work that needs
    /// time to recover. The loop falls behind by the periods it missed, which are counted.
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

/// A period that was delivered.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// `sizeof(oversleep_beat)`; set it before the call.
    pub size: usize,
    /// The number of this period, counted from the start; the first delivered is 1.
    pub period: u64,
    /// When it was due, in nanoseconds on the time line of `oversleep_clock_now_ns`.
    pub deadline_ns: u64,
    /// How long after its deadline it was delivered, in nanoseconds.
    pub lateness_ns: u64,
    /// How many periods were skipped between the previously delivered one and this one.
    pub missed: u64,
}

growing!(Beat);

impl From<oversleep::Beat> for Beat {
    fn from(beat: oversleep::Beat) -> Self {
        Self {
            size: size_of::<Self>(),
            period: beat.period,
            deadline_ns: beat.deadline.as_nanos(),
            lateness_ns: beat.lateness_ns,
            missed: beat.missed,
        }
    }
}

/// Creates a loop with a period of `period_ns` nanoseconds, at least 1, that starts now: the first deadline is one
/// period away. Free it with `oversleep_pacer_free`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_new_every_ns(period_ns: u64, pacer: *mut *mut Pacer) -> Status {
    let make = || match period_ns {
        0 => Err(Status::InvalidArgument),
        _ => Ok(oversleep::Pacer::every(Duration::from_nanos(period_ns))),
    };
    // SAFETY: the caller's pointer is null or writable.
    unsafe { handle::create(pacer, make) }
}

/// Creates a loop that runs exactly `rate` times a second, 1 to 10^9, even if the rate does not divide a second into
/// whole nanoseconds. It starts now. Free it with `oversleep_pacer_free`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_new_per_second(rate: u32, pacer: *mut *mut Pacer) -> Status {
    let make = || match rate {
        1..=1_000_000_000 => Ok(oversleep::Pacer::per_second(rate)),
        _ => Err(Status::InvalidArgument),
    };
    // SAFETY: the caller's pointer is null or writable.
    unsafe { handle::create(pacer, make) }
}

/// Moves the start of the grid. Two loops with the same start and period stay in step. Counting begins again, for
/// missed periods too, even in a loop that has run: the next period is 1, or, if the start is in the past, whichever
/// the policy picks from the periods already due.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_set_start_ns(pacer: *mut Pacer, start_ns: u64) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe { change(pacer, |pacer| Ok(pacer.starting_at(Instant::from_nanos(start_ns)))) }
}

/// Sets what happens to missed periods: an `oversleep_missed`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_set_missed(pacer: *mut Pacer, policy: i32) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe { change(pacer, |pacer| Ok(pacer.on_missed(Missed::from_number(policy)?))) }
}

/// Delivers every period, but of those that are already late only the latest `periods`, at least 1. Older ones are skipped
/// and counted as missed: after a suspend there may be millions.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_set_catch_up_max(pacer: *mut Pacer, periods: u64) -> Status {
    let catching_up = |pacer: oversleep::Pacer| match periods {
        0 => Err(Status::InvalidArgument),
        _ => Ok(pacer.catching_up_at_most(periods)),
    };
    // SAFETY: the caller's handle is null or alive.
    unsafe { change(pacer, catching_up) }
}

/// Sets the budget of the pacer's sleeper: the longest that a wait may spin. The default is 600000 ns. What was learned
/// about waits is forgotten.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_set_budget_ns(pacer: *mut Pacer, budget_ns: u64) -> Status {
    let sleeper = || oversleep::Sleeper::new().with_budget(Duration::from_nanos(budget_ns));
    // SAFETY: the caller's handle is null or alive.
    unsafe { change(pacer, |pacer| Ok(pacer.with_sleeper(sleeper()))) }
}

unsafe fn change(
    pacer: *mut Pacer,
    change: impl FnOnce(oversleep::Pacer) -> Result<oversleep::Pacer, Status>,
) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe {
        handle::change(pacer, |pacer| {
            *pacer = change(pacer.clone())?;
            Ok(())
        })
    }
}

/// Waits for the next period, with the guarantees and costs of `oversleep_sleep_until_ns`. Returns at once if it is
/// already due. Writes which period was delivered, how late, and what was missed, unless `beat` is NULL.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_wait(pacer: *mut Pacer, beat: *mut Beat) -> Status {
    // SAFETY: the caller's pointer is null or writable, and its handle is null or alive.
    unsafe { boundary::fill_if_wanted(beat, || handle::with(pacer, |pacer| Ok(pacer.wait().into()))) }
}

/// Delivers the next period if it is already due, as `oversleep_pacer_wait` does. Otherwise returns
/// `OVERSLEEP_STATUS_NONE` without waiting.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_poll(pacer: *mut Pacer, beat: *mut Beat) -> Status {
    let poll = |pacer: &mut oversleep::Pacer| pacer.poll().map(Beat::from).ok_or(Status::None);
    // SAFETY: the caller's pointer is null or writable, and its handle is null or alive.
    unsafe { boundary::fill_if_wanted(beat, || handle::with(pacer, poll)) }
}

/// Writes when the next period is due, in nanoseconds.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_next_deadline_ns(pacer: *const Pacer, deadline_ns: *mut u64) -> Status {
    // SAFETY: the caller's handle is null or alive, and its pointer is null or writable.
    unsafe { ask(pacer, deadline_ns, |pacer| pacer.next_deadline().as_nanos()) }
}

/// Writes when the given period is due, in nanoseconds. Periods are counted from the start of the grid, which is period
/// 0 and never delivered.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_deadline_of_ns(
    pacer: *const Pacer,
    period: u64,
    deadline_ns: *mut u64,
) -> Status {
    // SAFETY: the caller's handle is null or alive, and its pointer is null or writable.
    unsafe { ask(pacer, deadline_ns, |pacer| pacer.deadline_of(period).as_nanos()) }
}

/// Writes how many periods were skipped since the start. Added to the delivered ones, they make all periods that have
/// passed.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_missed(pacer: *const Pacer, missed: *mut u64) -> Status {
    // SAFETY: the caller's handle is null or alive, and its pointer is null or writable.
    unsafe { ask(pacer, missed, |pacer| pacer.missed()) }
}

unsafe fn ask(pacer: *const Pacer, place: *mut u64, question: impl FnOnce(&oversleep::Pacer) -> u64) -> Status {
    // SAFETY: the caller's pointer is null or writable, and its handle is null or alive.
    unsafe { boundary::write(place, || handle::with(pacer, |pacer| Ok(question(pacer)))) }
}

/// Frees a pacer. NULL is allowed.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_pacer_free(pacer: *mut Pacer) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::free(pacer, |_| Ok(())) }
}
