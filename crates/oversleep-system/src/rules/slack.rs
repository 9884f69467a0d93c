//! Deliberate delays: the slack of a thread, shares of a timeout, tiers of service classes.

use oversleep_record::Nanos;

/// The thread that waits, as far as it decides about timers.
#[derive(Clone, Copy, Debug)]
pub struct SleepingThread {
    /// Its timer slack.
    pub slack: Nanos,
    /// Whether it is under a real-time policy, which knows no slack.
    pub is_real_time: bool,
    /// Whether its nice value is above zero.
    pub is_nice: bool,
    /// Which of the machine's tiers postpones its timers.
    pub tier: usize,
}

impl SleepingThread {
    /// The slack that its waits get: none under a real-time policy.
    #[inline]
    pub fn slack_in_force(&self) -> Nanos {
        if self.is_real_time { Nanos::ZERO } else { self.slack }
    }
}

/// The share of a long timeout that Linux adds to `select`, `poll` and `epoll_wait` (`select_estimate_accuracy` in
/// <https://github.com/torvalds/linux/blob/master/fs/select.c>).
#[derive(Clone, Copy, Debug)]
pub struct PollShare {
    /// In parts per million of the timeout.
    pub plain_ppm: i64,
    /// For a thread of positive nice value.
    pub nice_ppm: i64,
    /// At most this.
    pub max_ns: Nanos,
}

impl PollShare {
    /// In parts per million of that thread's timeouts.
    pub fn ppm(&self, thread: &SleepingThread) -> i64 {
        if thread.is_nice { self.nice_ppm } else { self.plain_ppm }
    }

    /// By how much a wait of that span may be late: the share, or the thread's slack where that is more.
    #[inline]
    pub fn slack(&self, thread: &SleepingThread, span: Nanos) -> Nanos {
        if thread.is_real_time {
            return Nanos::ZERO;
        }
        let ppm = self.ppm(thread);
        // In two parts: a product of a day and 5,000 ppm doesn't fit.
        let share = Nanos(span.0 / 1_000_000 * ppm + span.0 % 1_000_000 * ppm / 1_000_000);
        share.min(self.max_ns).max(thread.slack)
    }
}

/// By how much the timers of one class of threads are postponed, on macOS.
#[derive(Clone, Debug)]
pub struct Tier {
    /// Its name, as the tunable takes it.
    pub name: String,
    /// The request is shifted right by so many bits; to the left below zero.
    pub shift: i32,
    /// At most this; zero if nothing is postponed.
    pub max_ns: Nanos,
}

impl Tier {
    /// By how much a wait of that span may be late.
    #[inline]
    pub fn leeway(&self, span: Nanos) -> Nanos {
        let shifted = match self.shift {
            right @ 0..=62 => span.0 >> right,
            left @ -30..0 => span.0.saturating_mul(1 << -left),
            _ => 0,
        };
        Nanos(shifted).min(self.max_ns)
    }
}
