//! Finer timing, for as long as it is held.

use std::ffi::c_char;
use std::time::Duration;

use oversleep::resolution::{Held, Setting as SettingOutcome, What};

use crate::UNKNOWN_NS;
use crate::boundary::handle::{self, Handle};
use crate::boundary::local::ThreadLocal;
use crate::boundary::{self, text};
use crate::outcome::{Change, Outcome};
use crate::status::Status;

/// A request for finer timing, and the settings it holds.
pub struct Resolution(Handle<Request>);

#[derive(Default)]
pub(crate) struct Request {
    requested: oversleep::Resolution,
    outcomes: Vec<SettingOutcome>,
    held: Option<ThreadLocal<Held>>,
}

impl Request {
    fn ask(&mut self, more: impl FnOnce(oversleep::Resolution) -> oversleep::Resolution) -> Result<(), Status> {
        self.requested = more(std::mem::take(&mut self.requested));
        Ok(())
    }

    /// `Status::None` if nothing is held.
    fn release(&mut self) -> Result<(), Status> {
        self.held.as_ref().ok_or(Status::None)?.is_mine()?;
        self.held = None;
        Ok(())
    }

    fn setting(&self, setting: i32) -> Result<Option<&SettingOutcome>, Status> {
        let what = Setting::from_number(setting)?;
        Ok(self.outcomes.iter().find(|setting| setting.what == what))
    }
}

handle::opaque!(Resolution: Request);

/// The settings that a request can contain. A system denies the settings it lacks and says so, so one request works on
/// every system.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The thread's timer slack (Linux). Cost: fewer wake-ups are combined.
    TimerSlack = 1,
    /// The process's timer resolution (Windows). Cost: power.
    Timer = 2,
    /// The thread's scheduling policy: SCHED_FIFO on Linux, time-critical priority on Windows, time constraints on
    /// macOS. Cost: other threads wait.
    RealTime = 3,
    /// The machine's limit on how long a processor takes to wake up: /dev/cpu_dma_latency on Linux. Cost: power.
    CpuLatency = 4,
    /// The thread's time slice (Linux 6.12 and later). Cost: other threads are interrupted more often.
    TimeSlice = 5,
    /// The thread's multimedia class (Windows). Cost: other threads wait.
    Multimedia = 6,
}

impl Setting {
    fn from_number(number: i32) -> Result<What, Status> {
        const ALL: [(Setting, What); 6] = [
            (Setting::TimerSlack, What::TimerSlack),
            (Setting::Timer, What::Timer),
            (Setting::RealTime, What::RealTime),
            (Setting::CpuLatency, What::CpuLatency),
            (Setting::TimeSlice, What::TimeSlice),
            (Setting::Multimedia, What::Multimedia),
        ];
        let known = ALL.into_iter().find(|&(setting, _)| setting as i32 == number);
        known.map(|(_, what)| what).ok_or(Status::InvalidArgument)
    }
}

/// Creates an empty request. Nothing happens until `oversleep_resolution_hold`. Free it with
/// `oversleep_resolution_free`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_new(resolution: *mut *mut Resolution) -> Status {
    // SAFETY: the caller's pointer is null or writable.
    unsafe { handle::create(resolution, || Ok(Request::default())) }
}

/// Requests the settings that need no privileges: a timer slack of 1 ns and a timer resolution of 1 ms.
///
/// On Windows the machine's timer interrupts about 1000 times a second instead of 64 while this is held, which costs
/// power. Windows 11 would also drop the request while the process's windows are hidden, so the process is exempted
/// from that power throttling. Hold it while punctual waits matter.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_harmless(resolution: *mut Resolution) -> Status {
    let more = |requested: oversleep::Resolution| {
        requested.timer_slack(Duration::from_nanos(1)).timer(Duration::from_millis(1))
    };
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::change(resolution, |request| request.ask(more)) }
}

/// Requests this timer slack, in nanoseconds, for the thread that will hold the request. Zero means 1 ns. Threads and
/// programs that it starts meanwhile inherit the slack permanently.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_timer_slack_ns(resolution: *mut Resolution, slack_ns: u64) -> Status {
    let more = |requested: oversleep::Resolution| requested.timer_slack(Duration::from_nanos(slack_ns));
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::change(resolution, |request| request.ask(more)) }
}

/// Requests a timer resolution of `period_ns` nanoseconds for the process: whole milliseconds, rounded down, or less
/// than one.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_timer_ns(resolution: *mut Resolution, period_ns: u64) -> Status {
    let more = |requested: oversleep::Resolution| requested.timer(Duration::from_nanos(period_ns));
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::change(resolution, |request| request.ask(more)) }
}

/// Requests that the thread that will hold the request run ahead of every ordinary one. `priority` is 1 to 99. On
/// Linux, threads and programs that it starts meanwhile inherit the policy.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_real_time(resolution: *mut Resolution, priority: i32) -> Status {
    let ask = |request: &mut Request| match u8::try_from(priority) {
        Ok(priority @ 1..=99) => request.ask(|requested| requested.real_time(priority)),
        _ => Err(Status::InvalidArgument),
    };
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::change(resolution, ask) }
}

/// As `oversleep_resolution_ask_real_time`, for a thread that has a little work once per `period_ns` nanoseconds. macOS
/// lets it compute for a fifth of the period; other systems ignore the period.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_real_time_every_ns(
    resolution: *mut Resolution,
    priority: i32,
    period_ns: u64,
) -> Status {
    let period = Duration::from_nanos(period_ns);
    let ask = |request: &mut Request| match u8::try_from(priority) {
        Ok(priority @ 1..=99) if period_ns > 0 => request.ask(|requested| requested.real_time_every(priority, period)),
        _ => Err(Status::InvalidArgument),
    };
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::change(resolution, ask) }
}

/// Requests this time slice, in nanoseconds, for the thread that will hold the request; see
/// `oversleep_time_slice_hold_ns`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_time_slice_ns(resolution: *mut Resolution, slice_ns: u64) -> Status {
    let more = |requested: oversleep::Resolution| requested.time_slice(Duration::from_nanos(slice_ns));
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::change(resolution, |request| request.ask(more)) }
}

/// Requests that the thread that will hold the request belong to the multimedia class "Pro Audio" (Windows).
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_multimedia(resolution: *mut Resolution) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::change(resolution, |request| request.ask(oversleep::Resolution::multimedia)) }
}

/// Requests that an idle processor wake up within `latency_ns` nanoseconds, in whole microseconds. Zero keeps it out of
/// idle states altogether.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_cpu_latency_ns(
    resolution: *mut Resolution,
    latency_ns: u64,
) -> Status {
    let more = |requested: oversleep::Resolution| requested.cpu_latency(Duration::from_nanos(latency_ns));
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::change(resolution, |request| request.ask(more)) }
}

/// Makes every requested change independently: one denial does not stop the others, and is an outcome, not an error.
/// `oversleep_resolution_change` and `oversleep_resolution_text` give the outcome of each.
///
/// Later additions to the request take effect with the next hold. Returns `OVERSLEEP_STATUS_ALREADY_HELD` if it is
/// already held.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_hold(resolution: *mut Resolution) -> Status {
    let hold = |request: &mut Request| {
        if request.held.is_some() {
            return Err(Status::AlreadyHeld);
        }
        let held = request.requested.clone().hold();
        request.outcomes = held.settings().to_vec();
        request.held = Some(ThreadLocal::new(held));
        Ok(())
    };
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::change(resolution, hold) }
}

/// Writes the outcome of a setting (an `oversleep_setting`) at the latest hold: `OVERSLEEP_OUTCOME_NOT_ASKED` if it was
/// not requested, or before the first hold.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_change(
    resolution: *const Resolution,
    setting: i32,
    change: *mut Change,
) -> Status {
    const NOT_ASKED: Change = Change {
        size: size_of::<Change>(),
        outcome: Outcome::NotAsked,
        reserved: 0,
        was_ns: UNKNOWN_NS,
        now_ns: UNKNOWN_NS,
    };
    let answer = |request: &mut Request| {
        Ok(request.setting(setting)?.map_or(NOT_ASKED, |setting| Change::of_value(&setting.outcome)))
    };
    // SAFETY: the caller's pointer is null or writable, and its handle is null or alive.
    unsafe { boundary::fill(change, || handle::with(resolution, answer)) }
}

/// Writes the outcome of a setting (an `oversleep_setting`) at the latest hold as an English sentence: its values, or
/// why it was denied and the next step. Returns `OVERSLEEP_STATUS_NONE` if it was not requested.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_text(
    resolution: *const Resolution,
    setting: i32,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Status {
    let answer = |request: &mut Request| request.setting(setting)?.map(ToString::to_string).ok_or(Status::None);
    // SAFETY: the caller describes the buffer correctly, and its handle is null or alive.
    unsafe { text::write(text, capacity, length, || handle::with(resolution, answer)) }
}

/// Restores everything. Returns `OVERSLEEP_STATUS_NONE` if nothing is held. In another thread than the one that holds
/// the request, does nothing and returns `OVERSLEEP_STATUS_WRONG_THREAD`. The request can be held again.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_release(resolution: *mut Resolution) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::change(resolution, Request::release) }
}

/// Restores everything that is held, and frees the request. NULL is allowed. If another thread holds it, does nothing
/// and returns `OVERSLEEP_STATUS_WRONG_THREAD`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_free(resolution: *mut Resolution) -> Status {
    let may = |request: &mut Request| match request.release() {
        Err(Status::None) => Ok(()),
        released => released,
    };
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::free(resolution, may) }
}
