//! The guard that holds a request, and releases it.

use super::setting::{Setting, Value, What};
use crate::claims::{Guard, RealTime};
use crate::outcome::Outcome;
use crate::scheduling::{RealTimeRequest, Scheduling};
use crate::slack::TimerSlackGuard;
use crate::sys;
use crate::time_slice::TimeSliceGuard;

/// Holds what a [`Resolution`](crate::Resolution) requested, and restores everything on drop, even while a panic unwinds.
///
/// Guards may be dropped in any order: a setting returns to what it was when the last guard that holds it goes.
///
/// It belongs to the thread that created it and can't be sent to another; see [`split`](Held::split). Nothing outlives the
/// process, even if it is killed, except what its children inherited.
///
/// ```
/// let held = oversleep::Resolution::harmless().hold();
/// oversleep::sleep(std::time::Duration::from_micros(100));
/// // This restores everything.
/// drop(held);
/// ```
#[must_use = "everything is restored as soon as this is dropped"]
#[derive(Debug)]
pub struct Held {
    pub(super) settings: Vec<Setting>,
    pub(super) process: HeldByProcess,
    pub(super) thread: HeldByThread,
}

type RealTimeGuard = Guard<RealTime, Scheduling>;

/// The part of a [`Held`] that belongs to the thread: slack, slice, real-time and multimedia scheduling.
///
/// ```compile_fail
/// fn send<T: Send>(_: T) {}
/// send(oversleep::Resolution::harmless().hold().split().0);
/// ```
#[must_use = "the thread's settings are restored as soon as this is dropped"]
#[derive(Debug)]
pub struct HeldByThread {
    pub(super) _multimedia: Option<sys::Multimedia>,
    pub(super) _real_time: Option<RealTimeGuard>,
    pub(super) _slice: Option<TimeSliceGuard>,
    pub(super) _slack: Option<TimerSlackGuard>,
}

/// The part of a [`Held`] that belongs to the process: timer resolution and CPU wake-up latency. It may be sent to another
/// thread and dropped there.
///
/// ```
/// let (thread, process) = oversleep::Resolution::harmless().hold().split();
/// std::thread::spawn(move || drop(process)).join().unwrap();
/// drop(thread);
/// ```
#[must_use = "the process's settings are restored as soon as this is dropped"]
#[derive(Debug)]
pub struct HeldByProcess {
    pub(super) _latency: Option<sys::CpuLatency>,
    pub(super) _timer: Option<sys::Timer>,
}

/// Requests a real-time policy for the calling thread.
pub(super) fn hold_real_time(request: RealTimeRequest) -> RealTimeGuard {
    let ask = |denied| match request.asks_rtkit {
        true => sys::ask_for_real_time(request.priority),
        false => Err(denied),
    };
    Guard::hold(|was| sys::real_time_policy(was, request), ask, sys::scheduling)
}

impl Held {
    /// Each requested setting with its outcome.
    ///
    /// ```
    /// let held = oversleep::Resolution::harmless().hold();
    /// let refused = held.settings().iter().filter(|setting| !setting.outcome.holds());
    /// refused.for_each(|setting| println!("{setting}"));
    /// ```
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// The outcome of this setting; `None` if it wasn't requested.
    ///
    /// ```
    /// use oversleep::Resolution;
    /// use oversleep::resolution::What;
    ///
    /// let held = Resolution::harmless().hold();
    /// assert!(held.outcome(What::Timer).is_some() && held.outcome(What::CpuLatency).is_none());
    /// ```
    pub fn outcome(&self, what: What) -> Option<&Outcome<Value>> {
        self.settings.iter().find(|setting| setting.what == what).map(|setting| &setting.outcome)
    }

    /// Separates what belongs to the thread from what belongs to the process, so that another thread can hold the latter.
    ///
    /// ```
    /// let (thread, process) = oversleep::Resolution::harmless().hold().split();
    /// let keeper = std::thread::spawn(move || drop(process));
    /// keeper.join().unwrap();
    /// drop(thread);
    /// ```
    pub fn split(self) -> (HeldByThread, HeldByProcess) {
        (self.thread, self.process)
    }
}
