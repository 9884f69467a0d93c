//! Finer timing for as long as a guard lives: every setting the system has, an outcome for each, all undone on drop.
//!
//! Settings are requested, listed and restored in order here; what each one does on a given system is in `sys`.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use crate::outcome::Outcome;
use crate::scheduling::Scheduling;
use crate::slack::{TimerSlack, TimerSlackGuard};
use crate::sys;

/// A request for finer timing. Nothing happens until you call [`hold`](Resolution::hold).
///
/// | setting | what it changes | what it costs |
/// |---|---|---|
/// | [`timer_slack`](Self::timer_slack) | Linux: this thread's slack | fewer wake-ups are combined |
/// | [`timer`](Self::timer) | Windows: this process's timer resolution, even while its windows are hidden | power |
/// | [`real_time`](Self::real_time) | `SCHED_FIFO`; Windows: time-critical; macOS: time constraints | others wait |
/// | [`cpu_latency`](Self::cpu_latency) | Linux: `/dev/cpu_dma_latency`, for the whole machine | power |
///
/// A system denies the settings it lacks and says so, so one request works on every system.
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
    /// // Nothing was requested, so nothing is changed.
    /// assert!(oversleep::Resolution::new().hold().settings().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// The settings that need no privileges: a timer slack of 1 ns and a timer resolution of 1 ms.
    ///
    /// On Linux this costs next to nothing. On Windows the machine's timer interrupts about 1,000 times a second
    /// instead of 64, which shortens the battery life of an idle laptop. Windows 11 would also drop the request while
    /// the process's windows are hidden, so the process is exempted from that power throttling until the drop. Hold it
    /// while punctual waits matter, not for the program's lifetime.
    ///
    /// ```
    /// let held = oversleep::Resolution::harmless().hold();
    /// assert_eq!(held.settings().len(), 2);
    /// ```
    pub fn harmless() -> Self {
        Self::new().timer_slack(Duration::from_nanos(1)).timer(Duration::from_millis(1))
    }

    /// Requests this timer slack for the calling thread. Threads and programs it starts meanwhile inherit the slack
    /// permanently; see [`TimerSlack`].
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

    /// Requests this timer resolution for the process: a period below 1 ms, or whole milliseconds (rounded down).
    ///
    /// Windows keeps one request per process. Requests in whole milliseconds are counted together with the rest of the
    /// program's `timeBeginPeriod` calls, so each lasts until it is released. A request below 1 ms replaces all of them
    /// while it is held; they count again afterwards. Code in the program that calls `NtSetTimerResolution` directly
    /// overrides this request, and this request overrides it.
    ///
    /// Platforms: Windows; denied elsewhere. Cost: two system calls now and one on drop; the machine uses more power.
    ///
    /// ```
    /// use oversleep::Resolution;
    /// use oversleep::resolution::What;
    ///
    /// let held = Resolution::new().timer(std::time::Duration::from_millis(1)).hold();
    /// println!("{}", held.outcome(What::Timer).expect("it was requested"));
    /// ```
    pub fn timer(mut self, period: Duration) -> Self {
        self.timer = Some(period);
        self
    }

    /// Requests that the calling thread run ahead of every ordinary one, with this priority, 1 to 99. On Linux, threads
    /// and programs it starts meanwhile inherit the policy.
    ///
    /// Cost: a few system calls now and one on drop.
    ///
    /// ```
    /// use oversleep::Resolution;
    /// use oversleep::resolution::What;
    ///
    /// let held = Resolution::new().real_time(10).hold();
    /// // Without the privilege, the outcome says how to get it.
    /// println!("{}", held.outcome(What::RealTime).expect("it was requested"));
    /// ```
    pub fn real_time(mut self, priority: u8) -> Self {
        self.real_time = Some(priority);
        self
    }

    /// Requests that an idle processor wake up within this time, in whole microseconds; zero keeps it out of idle
    /// states altogether.
    ///
    /// Platforms: Linux, if the process may open `/dev/cpu_dma_latency`; denied elsewhere. Cost: one open file while
    /// held.
    ///
    /// ```
    /// use oversleep::Resolution;
    /// use oversleep::resolution::What;
    ///
    /// let held = Resolution::new().cpu_latency(std::time::Duration::from_micros(20)).hold();
    /// println!("{}", held.outcome(What::CpuLatency).expect("it was requested"));
    /// ```
    pub fn cpu_latency(mut self, latency: Duration) -> Self {
        self.cpu_latency = Some(latency);
        self
    }

    /// Makes every requested change independently: one denial doesn't stop the others.
    ///
    /// Cost: one to four system calls per change, and an allocation for the list of outcomes.
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

/// Holds what a [`Resolution`] requested, and restores everything on drop, even while a panic unwinds.
///
/// It belongs to the thread that created it and can't be sent to another. Nothing outlives the process, even if it is
/// killed, except what its children inherited.
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
    settings: Vec<Setting>,
    // The order of drops matters: the policy goes before the slack, because leaving a real-time policy resets the
    // slack.
    _latency: Option<sys::CpuLatency>,
    _scheduling: Option<sys::RealTime>,
    _timer: Option<sys::Timer>,
    _slack: Option<TimerSlackGuard>,
    of_this_thread: PhantomData<*const ()>,
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
}

/// A requested setting and its outcome. Displays as a sentence.
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
    /// The outcome of the request.
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

/// The settings that a [`Resolution`] can request.
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
    /// A duration; [`Duration::MAX`] stands for no limit.
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
    fn every_setting_has_a_readable_outcome() {
        let request = Resolution::harmless().real_time(1).cpu_latency(Duration::from_micros(100));
        let text: Vec<_> = request.hold().settings().iter().map(Setting::to_string).collect();
        assert_eq!(text.len(), 4);
        assert!(text[0].starts_with("timer slack: ") && text[3].starts_with("CPU wake-up latency: "), "{text:?}");
    }
}
