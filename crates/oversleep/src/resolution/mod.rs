//! Finer timing for as long as a guard lives: every setting the system has, an outcome for each, all undone on drop.
//!
//! Settings are requested here, held in `held` and named in `setting`; what each one does on a given system is in `sys`.

mod held;
mod setting;

use std::time::Duration;

use crate::scheduling::RealTimeRequest;
use crate::slack::TimerSlack;
use crate::sys;
use crate::time_slice::TimeSlice;
use held::hold_real_time;

pub use held::{Held, HeldByProcess, HeldByThread};
pub use setting::{Setting, Value, What};

/// A request for finer timing. Nothing happens until you call [`hold`](Resolution::hold).
///
/// | setting | what it changes | what it costs |
/// |---|---|---|
/// | [`timer_slack`](Self::timer_slack) | Linux: this thread's slack; macOS: its tier | fewer wake-ups are combined |
/// | [`time_slice`](Self::time_slice) | Linux: this thread's time slice | others are interrupted more often |
/// | [`timer`](Self::timer) | Windows: this process's timer resolution, even while its windows are hidden | power |
/// | [`real_time`](Self::real_time) | `SCHED_FIFO`; Windows: time-critical; macOS: time constraints | others wait |
/// | [`multimedia`](Self::multimedia) | Windows: this thread's multimedia class | others wait |
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
    time_slice: Option<Duration>,
    timer: Option<Duration>,
    real_time: Option<RealTimeRequest>,
    multimedia: bool,
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

    /// Requests this time slice for the calling thread. [`TimeSlice`] says what that costs others.
    ///
    /// Platforms: Linux 6.12; denied elsewhere.
    ///
    /// ```
    /// use oversleep::resolution::What;
    /// use oversleep::{Resolution, TimeSlice};
    ///
    /// let held = Resolution::new().time_slice(TimeSlice::SHORTEST).hold();
    /// println!("{}", held.outcome(What::TimeSlice).expect("it was requested"));
    /// ```
    pub fn time_slice(mut self, slice: Duration) -> Self {
        self.time_slice = Some(slice);
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
        self.real_time = Some(RealTimeRequest { priority, period: None, asks_rtkit: false });
        self
    }

    /// Like [`real_time`](Self::real_time), for a thread that has a little work once per period.
    ///
    /// macOS needs the period: it lets the thread compute for a fifth of it, within its first half, and demotes a
    /// thread that computes for longer. Without a period, that is 1 ms within 2.5 ms in each 5 ms. Other systems ignore
    /// it.
    ///
    /// ```
    /// use oversleep::Resolution;
    /// use std::time::Duration;
    ///
    /// let held = Resolution::new().real_time_every(10, Duration::from_millis(1)).hold();
    /// println!("{}", held.settings()[0]);
    /// ```
    pub fn real_time_every(mut self, priority: u8, period: Duration) -> Self {
        self.real_time = Some(RealTimeRequest { priority, period: Some(period), asks_rtkit: false });
        self
    }

    /// If real-time scheduling was requested and is refused for lack of a privilege, asks RealtimeKit for it, a daemon
    /// on desktop Linux. Needs the crate's feature `rtkit`; without it, and on other systems, this has no effect.
    ///
    /// RealtimeKit grants `SCHED_RR` with a priority of up to 20, and demands two things that an ordinary user can't take
    /// back, so they outlast the guard:
    ///
    /// * The process's hard limit on the CPU time of its real-time threads (`RLIMIT_RTTIME`) becomes 200 ms. A
    ///   real-time thread that computes for that long without a wait gets `SIGXCPU`.
    /// * Threads and programs that the thread starts begin with the ordinary policy (`SCHED_RESET_ON_FORK`).
    ///
    /// Cost: a connection to the system bus and three calls, usually a few milliseconds; 20 s at most.
    ///
    /// ```
    /// use oversleep::Resolution;
    ///
    /// let held = Resolution::new().real_time(10).or_by_rtkit().hold();
    /// println!("{}", held.settings()[0]);
    /// ```
    #[cfg(feature = "rtkit")]
    pub fn or_by_rtkit(mut self) -> Self {
        if let Some(request) = &mut self.real_time {
            request.asks_rtkit = true;
        }
        self
    }

    /// Requests that the Multimedia Class Scheduler Service run the calling thread as one for professional audio ("Pro
    /// Audio"): ahead of ordinary threads, for at most 80 % of the time unless the machine is set otherwise.
    ///
    /// Platforms: Windows; denied elsewhere. It needs no privilege.
    ///
    /// ```
    /// use oversleep::Resolution;
    /// use oversleep::resolution::What;
    ///
    /// let held = Resolution::new().multimedia().hold();
    /// println!("{}", held.outcome(What::Multimedia).expect("it was requested"));
    /// ```
    pub fn multimedia(mut self) -> Self {
        self.multimedia = true;
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
        let slice = self.time_slice.map(TimeSlice::hold);
        if let Some(slice) = &slice {
            settings.push(Setting::new(What::TimeSlice, slice.outcome().clone().map(Value::Time)));
        }
        let timer = self.timer.map(sys::hold_timer);
        if let Some((_, outcome)) = &timer {
            settings.push(Setting::new(What::Timer, outcome.clone().map(Value::Time)));
        }
        let real_time = self.real_time.map(hold_real_time);
        if let Some(real_time) = &real_time {
            settings.push(Setting::new(What::RealTime, real_time.outcome().clone().map(Value::Scheduling)));
        }
        let multimedia = self.multimedia.then(sys::hold_multimedia);
        if let Some((_, outcome)) = &multimedia {
            settings.push(Setting::new(What::Multimedia, outcome.clone().map(Value::Scheduling)));
        }
        let latency = self.cpu_latency.map(sys::hold_cpu_latency);
        if let Some((_, outcome)) = &latency {
            settings.push(Setting::new(What::CpuLatency, outcome.clone().map(Value::Time)));
        }
        let process =
            HeldByProcess { _latency: latency.and_then(|(held, _)| held), _timer: timer.and_then(|(held, _)| held) };
        let _multimedia = multimedia.and_then(|(held, _)| held);
        let thread = HeldByThread { _multimedia, _real_time: real_time, _slice: slice, _slack: slack };
        Held { settings, process, thread }
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
        let request = Resolution::harmless().time_slice(TimeSlice::SHORTEST).real_time(1).multimedia();
        let held = request.cpu_latency(Duration::from_micros(100)).hold();
        let text: Vec<_> = held.settings().iter().map(Setting::to_string).collect();
        let names = ["timer slack", "time slice", "timer resolution", "real-time", "multimedia", "CPU wake-up latency"];
        assert!(text.iter().zip(names).all(|(text, name)| text.starts_with(name)) && text.len() == 6, "{text:?}");
    }
}
