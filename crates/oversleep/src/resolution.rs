//! Finer timing for as long as a guard lives: each setting that the system knows, with an outcome for each, undone on
//! drop.
//!
//! What a setting means on each system is in `sys`; here they are asked for, listed and put back in order.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use crate::outcome::Outcome;
use crate::scheduling::Scheduling;
use crate::slack::{TimerSlack, TimerSlackGuard};
use crate::sys;

/// A request for finer timing. Nothing happens until [`hold`](Resolution::hold).
///
/// | setting | what it changes | what it costs |
/// |---|---|---|
/// | [`timer_slack`](Resolution::timer_slack) | Linux: this thread's slack | wake-ups are shared less |
/// | [`timer`](Resolution::timer) | Windows: this process's timer resolution, also while its window is hidden | power |
/// | [`real_time`](Resolution::real_time) | Linux: `SCHED_FIFO`; Windows: time-critical priority; macOS: time constraints | others wait |
/// | [`cpu_latency`](Resolution::cpu_latency) | Linux: `/dev/cpu_dma_latency`, for the whole machine | power |
///
/// A setting that a system lacks is denied with that reason, so one request serves all systems.
///
/// ```
/// use oversleep::Resolution;
///
/// let held = Resolution::harmless().hold();
/// for setting in held.settings() {
///     println!("{setting}");
/// }
/// // ... this thread's waits are finer here ...
/// drop(held);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a request does nothing until it is held"]
pub struct Resolution {
    timer_slack: Option<Duration>,
    timer: Option<Duration>,
    real_time: Option<u8>,
    cpu_latency: Option<Duration>,
}

impl Resolution {
    /// An empty request.
    ///
    /// ```
    /// // Nothing was asked for, so nothing is changed.
    /// assert!(oversleep::Resolution::new().hold().settings().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// What needs no rights: a timer slack of 1 ns, and a timer resolution of 1 ms.
    ///
    /// On Linux that costs next to nothing. On Windows the machine's timer interrupt runs at 1 ms for as long as it is held,
    /// about a thousand interrupts a second instead of 64, which an idle laptop pays with battery life; and the process is
    /// exempted from the power throttling that would drop the request while its windows are hidden (Windows 11), which is
    /// put back with it. Hold it while punctual waits matter, not for the program's lifetime.
    ///
    /// ```
    /// let held = oversleep::Resolution::harmless().hold();
    /// assert_eq!(held.settings().len(), 2);
    /// ```
    pub fn harmless() -> Self {
        Self::new().timer_slack(Duration::from_nanos(1)).timer(Duration::from_millis(1))
    }

    /// Asks for this timer slack in the calling thread. Threads and programs that it starts meanwhile inherit that for good,
    /// see [`TimerSlack`].
    ///
    /// ```
    /// use oversleep::Resolution;
    /// use oversleep::resolution::What;
    ///
    /// let held = Resolution::new().timer_slack(std::time::Duration::from_nanos(1)).hold();
    /// assert!(held.outcome(What::TimerSlack).is_some());
    /// ```
    pub fn timer_slack(mut self, slack: Duration) -> Self {
        self.timer_slack = Some(slack);
        self
    }

    /// Asks for timer ticks at least this often, for the process: a whole number of milliseconds, rounded down, or less
    /// than one.
    ///
    /// Windows keeps one request per process. Those in whole milliseconds are counted together with what the rest of the
    /// program asks for by `timeBeginPeriod`, and so outlive one another. A shorter one takes the place of all of them
    /// while it is held, and they count again afterwards. A part of the program that calls `NtSetTimerResolution` itself
    /// replaces this request, and is replaced by it.
    /// Platforms: Windows; denied elsewhere. Costs two system calls, and one on drop; what it costs the machine is power.
    ///
    /// ```
    /// use oversleep::Resolution;
    /// use oversleep::resolution::What;
    ///
    /// let held = Resolution::new().timer(std::time::Duration::from_millis(1)).hold();
    /// println!("{}", held.outcome(What::Timer).expect("it was asked for"));
    /// ```
    pub fn timer(mut self, period: Duration) -> Self {
        self.timer = Some(period);
        self
    }

    /// Asks that the calling thread runs before every ordinary one, with this priority of 1 to 99. On Linux threads and
    /// programs that it starts meanwhile inherit that.
    /// Costs some system calls, and one on drop.
    ///
    /// ```
    /// use oversleep::Resolution;
    /// use oversleep::resolution::What;
    ///
    /// let held = Resolution::new().real_time(10).hold();
    /// // Without the right to it the answer says how to allow it.
    /// println!("{}", held.outcome(What::RealTime).expect("it was asked for"));
    /// ```
    pub fn real_time(mut self, priority: u8) -> Self {
        self.real_time = Some(priority);
        self
    }

    /// Asks that a sleeping processor wakes up within this time, whole microseconds; zero keeps it from sleeping at
    /// all.
    /// Platforms: Linux, where `/dev/cpu_dma_latency` may be opened; denied elsewhere. Costs an open file while it is held.
    ///
    /// ```
    /// use oversleep::Resolution;
    /// use oversleep::resolution::What;
    ///
    /// let held = Resolution::new().cpu_latency(std::time::Duration::from_micros(20)).hold();
    /// println!("{}", held.outcome(What::CpuLatency).expect("it was asked for"));
    /// ```
    pub fn cpu_latency(mut self, latency: Duration) -> Self {
        self.cpu_latency = Some(latency);
        self
    }

    /// Makes every change that was asked for, each on its own: a denied one doesn't keep the others from happening.
    /// Costs one to four system calls for each, and allocates the list of what became of them.
    ///
    /// ```
    /// let held = oversleep::Resolution::harmless().real_time(10).hold();
    /// for setting in held.settings() {
    ///     println!("{setting}");
    /// }
    /// ```
    pub fn hold(self) -> Held {
        let mut settings = Vec::new();
        let slack = self.timer_slack.map(TimerSlack::hold);
        if let Some(slack) = &slack {
            settings.push(Setting::new(What::TimerSlack, slack.outcome().clone().map(Value::Time)));
        }
        let timer = self.timer.map(sys::hold_timer);
        if let Some((_, outcome)) = &timer {
            settings.push(Setting::new(What::Timer, outcome.clone().map(Value::Time)));
        }
        let scheduling = self.real_time.map(sys::hold_real_time);
        if let Some((_, outcome)) = &scheduling {
            settings.push(Setting::new(What::RealTime, outcome.clone().map(Value::Scheduling)));
        }
        let latency = self.cpu_latency.map(sys::hold_cpu_latency);
        if let Some((_, outcome)) = &latency {
            settings.push(Setting::new(What::CpuLatency, outcome.clone().map(Value::Time)));
        }
        Held {
            settings,
            _latency: latency.and_then(|(held, _)| held),
            _scheduling: scheduling.and_then(|(held, _)| held),
            _timer: timer.and_then(|(held, _)| held),
            _slack: slack,
            of_this_thread: PhantomData,
        }
    }
}

/// Holds what a [`Resolution`] asked for, and puts everything back on drop, also while a panic unwinds.
///
/// It belongs to the thread that made it and cannot leave it. Nothing outlives the process, even when it is killed, but
/// what its children inherited.
///
/// ```
/// let held = oversleep::Resolution::harmless().hold();
/// oversleep::sleep(std::time::Duration::from_micros(100));
/// // Everything is put back here.
/// drop(held);
/// ```
#[must_use = "everything is put back as soon as this is dropped"]
#[derive(Debug)]
pub struct Held {
    settings: Vec<Setting>,
    // Dropped in this order: the policy before the slack, because leaving a real-time policy resets the slack.
    _latency: Option<sys::CpuLatency>,
    _scheduling: Option<sys::RealTime>,
    _timer: Option<sys::Timer>,
    _slack: Option<TimerSlackGuard>,
    of_this_thread: PhantomData<*const ()>,
}

impl Held {
    /// What became of each setting that was asked for.
    ///
    /// ```
    /// let held = oversleep::Resolution::harmless().hold();
    /// let refused = held.settings().iter().filter(|setting| !setting.outcome.holds());
    /// refused.for_each(|setting| println!("{setting}"));
    /// ```
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// What became of this setting; `None` when it wasn't asked for.
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
}

/// A setting that was asked for, and what became of it. Displays as a sentence.
///
/// ```
/// let held = oversleep::Resolution::harmless().hold();
/// let setting = &held.settings()[0];
/// println!("{}: {}", setting.what, setting.outcome);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Setting {
    /// Which setting.
    pub what: What,
    /// What became of it.
    pub outcome: Outcome<Value>,
}

impl Setting {
    fn new(what: What, outcome: Outcome<Value>) -> Self {
        Self { what, outcome }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.outcome)
    }
}

/// The settings that a [`Resolution`] can ask for.
///
/// ```
/// assert_eq!(oversleep::resolution::What::Timer.to_string(), "timer resolution");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum What {
    /// The thread's timer slack.
    TimerSlack,
    /// The process's timer resolution.
    Timer,
    /// The thread's scheduling policy.
    RealTime,
    /// The machine's limit on how long a processor takes to wake up.
    CpuLatency,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimerSlack => "timer slack",
            Self::Timer => "timer resolution",
            Self::RealTime => "real-time scheduling",
            Self::CpuLatency => "CPU wake-up latency",
        })
    }
}

/// The value of a setting.
///
/// ```
/// use oversleep::resolution::Value;
///
/// let unlimited = Value::Time(std::time::Duration::MAX);
/// assert_eq!(format!("{unlimited:?}"), "unlimited");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A duration. A limit that isn't set is [`Duration::MAX`].
    Time(Duration),
    /// A scheduling policy.
    Scheduling(Scheduling),
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(Duration::MAX) => f.write_str("unlimited"),
            Self::Time(time) => time.fmt(f),
            Self::Scheduling(scheduling) => scheduling.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_request_does_nothing() {
        let held = Resolution::new().hold();
        assert!(held.settings().is_empty());
        assert_eq!(held.outcome(What::Timer), None);
    }

    #[test]
    fn every_setting_has_an_outcome_that_reads() {
        let request = Resolution::harmless().real_time(1).cpu_latency(Duration::from_micros(100));
        let text: Vec<_> = request.hold().settings().iter().map(Setting::to_string).collect();
        assert_eq!(text.len(), 4);
        assert!(text[0].starts_with("timer slack: ") && text[3].starts_with("CPU wake-up latency: "), "{text:?}");
    }
}
