//! Finer timing for as long as it is held.

use std::ffi::c_char;
use std::thread::{self, ThreadId};
use std::time::Duration;

use oversleep::resolution::{Held, Setting as Became, What};

use crate::UNKNOWN_NS;
use crate::boundary::handle::{self, Handle, Opaque};
use crate::boundary::{self, Place, text};
use crate::outcome::{Change, Outcome};
use crate::status::Status;

/// A request for finer timing, and what it holds.
pub struct Resolution(Handle<Request>);

#[derive(Default)]
pub(crate) struct Request {
    asked: oversleep::Resolution,
    became: Vec<Became>,
    held: Option<(Held, ThreadId)>,
}

impl Request {
    fn ask(&mut self, more: impl FnOnce(oversleep::Resolution) -> oversleep::Resolution) -> Result<Status, Status> {
        self.asked = more(std::mem::take(&mut self.asked));
        Ok(Status::Ok)
    }

    fn release(&mut self) -> Result<Status, Status> {
        match &self.held {
            None => Ok(Status::None),
            Some((_, owner)) if *owner != thread::current().id() => Err(Status::WrongThread),
            Some(_) => {
                self.held = None;
                Ok(Status::Ok)
            }
        }
    }

    fn setting(&self, setting: i32) -> Result<Option<&Became>, Status> {
        let what = Setting::from_number(setting)?;
        Ok(self.became.iter().find(|became| became.what == what))
    }
}

impl Opaque for Resolution {
    type Value = Request;

    fn wrap(value: Handle<Self::Value>) -> Self {
        Self(value)
    }

    fn handle(&self) -> &Handle<Self::Value> {
        &self.0
    }
}

/// The settings that can be asked for. One that the system lacks is denied with that reason, so one request serves all
/// systems.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The thread's timer slack (Linux). It costs shared wake-ups.
    TimerSlack = 1,
    /// The process's timer resolution (Windows). It costs power.
    Timer = 2,
    /// The thread's scheduling policy: SCHED_FIFO on Linux, time-critical priority on Windows, time constraints on
    /// macOS. Other threads wait.
    RealTime = 3,
    /// The machine's limit on how long a processor takes to wake up: /dev/cpu_dma_latency on Linux. It costs power.
    CpuLatency = 4,
}

impl Setting {
    fn from_number(number: i32) -> Result<What, Status> {
        const ALL: [(Setting, What); 4] = [
            (Setting::TimerSlack, What::TimerSlack),
            (Setting::Timer, What::Timer),
            (Setting::RealTime, What::RealTime),
            (Setting::CpuLatency, What::CpuLatency),
        ];
        let known = ALL.into_iter().find(|&(setting, _)| setting as i32 == number);
        known.map(|(_, what)| what).ok_or(Status::InvalidArgument)
    }
}

/// Makes an empty request. Nothing happens until `oversleep_resolution_hold`. Free it with `oversleep_resolution_free`.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_new(resolution: *mut *mut Resolution) -> Status {
    // SAFETY: the caller's pointer is null or can be written to.
    boundary::status(|| unsafe { handle::create(resolution, || Ok(Request::default())) })
}

/// Asks for what needs no rights: a timer slack of 1 ns, and a timer resolution of 1 ms. On Windows the machine's timer
/// interrupt runs at 1 ms while it is held, about a thousand interrupts a second instead of 64, which costs power; and the
/// process is exempted from the power throttling that would drop the request while its windows are hidden (Windows 11).
/// Hold it while punctual waits matter.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_harmless(resolution: *mut Resolution) -> Status {
    let more =
        |asked: oversleep::Resolution| asked.timer_slack(Duration::from_nanos(1)).timer(Duration::from_millis(1));
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { handle::with(resolution, |request| request.ask(more)) })
}

/// Asks for this timer slack, in nanoseconds, in the thread that will hold the request. Zero is taken as 1 ns. Threads and
/// programs that it starts meanwhile inherit it for good.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_timer_slack_ns(resolution: *mut Resolution, slack_ns: u64) -> Status {
    let more = |asked: oversleep::Resolution| asked.timer_slack(Duration::from_nanos(slack_ns));
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { handle::with(resolution, |request| request.ask(more)) })
}

/// Asks for timer ticks at least every `period_ns` nanoseconds, for the process.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_timer_ns(resolution: *mut Resolution, period_ns: u64) -> Status {
    let more = |asked: oversleep::Resolution| asked.timer(Duration::from_nanos(period_ns));
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { handle::with(resolution, |request| request.ask(more)) })
}

/// Asks that the thread that will hold the request runs before every ordinary one. `priority` is 1 to 99. On Linux
/// threads and programs that it starts meanwhile inherit that.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_real_time(resolution: *mut Resolution, priority: i32) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's handle is null or alive.
        unsafe {
            handle::with(resolution, |request| match u8::try_from(priority) {
                Ok(priority @ 1..=99) => request.ask(|asked| asked.real_time(priority)),
                _ => Err(Status::InvalidArgument),
            })
        }
    })
}

/// Asks that a sleeping processor wakes up within `latency_ns` nanoseconds, in whole microseconds; zero keeps it from
/// sleeping at all.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_ask_cpu_latency_ns(
    resolution: *mut Resolution,
    latency_ns: u64,
) -> Status {
    let more = |asked: oversleep::Resolution| asked.cpu_latency(Duration::from_nanos(latency_ns));
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { handle::with(resolution, |request| request.ask(more)) })
}

/// Makes every change that was asked for, each on its own: a denied one does not keep the others from happening, and is
/// an outcome, not an error. `oversleep_resolution_change` and `oversleep_resolution_text` say what became of each.
///
/// What is asked for later takes effect with the next hold. `OVERSLEEP_STATUS_ALREADY_HELD` when it is held.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_hold(resolution: *mut Resolution) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's handle is null or alive.
        unsafe {
            handle::with(resolution, |request| {
                if request.held.is_some() {
                    return Err(Status::AlreadyHeld);
                }
                let owner = thread::current().id();
                let held = request.asked.clone().hold();
                request.became = held.settings().to_vec();
                request.held = Some((held, owner));
                Ok(Status::Ok)
            })
        }
    })
}

/// Writes what became of a setting (an `oversleep_setting`) at the latest hold: `OVERSLEEP_OUTCOME_NOT_ASKED` for one
/// that was not asked for, and before the first hold.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_change(
    resolution: *const Resolution,
    setting: i32,
    change: *mut Change,
) -> Status {
    const NOT_ASKED: Change =
        Change { outcome: Outcome::NotAsked, reserved: 0, was_ns: UNKNOWN_NS, now_ns: UNKNOWN_NS };
    boundary::status(|| {
        // SAFETY: the caller's pointer is null or can be written to.
        let place = unsafe { Place::required(change)? };
        // SAFETY: the caller's handle is null or alive.
        let answer = unsafe {
            handle::with(resolution, |request| {
                Ok(request.setting(setting)?.map_or(NOT_ASKED, |became| Change::of_value(&became.outcome)))
            })?
        };
        place.put(answer);
        Ok(Status::Ok)
    })
}

/// What became of a setting (an `oversleep_setting`) at the latest hold, as a sentence in English: its values, or why it
/// was denied and how to allow it. `OVERSLEEP_STATUS_NONE` for one that was not asked for.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_text(
    resolution: *const Resolution,
    setting: i32,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Status {
    boundary::status(|| {
        // SAFETY: the caller describes the buffer truthfully.
        let text = unsafe { text::Buffer::new(text, capacity, length)? };
        // SAFETY: the caller's handle is null or alive.
        let answer =
            unsafe { handle::with(resolution, |request| Ok(request.setting(setting)?.map(ToString::to_string)))? };
        Ok(answer.map_or(Status::None, |answer| text.put(&answer)))
    })
}

/// Puts everything back. `OVERSLEEP_STATUS_NONE` when nothing is held; `OVERSLEEP_STATUS_WRONG_THREAD`, and nothing
/// happens, in another thread than the one that holds it. The request can be held again.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_release(resolution: *mut Resolution) -> Status {
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { handle::with(resolution, Request::release) })
}

/// Puts everything back, if it is held, and frees the request. NULL is fine. `OVERSLEEP_STATUS_WRONG_THREAD`, and
/// nothing happens, when another thread holds it.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_resolution_free(resolution: *mut Resolution) -> Status {
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { handle::free(resolution, |request| request.release().map(|_| ())) })
}
