//! Deliberate delays: the slack of a thread, shares of a timeout, tiers of service classes.

use oversleep_record::Nanos;

/// The properties of the waiting thread that matter for timers.
#[derive(Clone, Copy, Debug)]
pub struct SleepingThread {
    /// Its timer slack.
    pub slack: Nanos,
    /// Whether it is under a real-time policy, which has no slack.
    pub is_real_time: bool,
    /// Whether its nice value is above zero.
    pub is_nice: bool,
    /// The index of the tier that delays its timers.
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
    /// The upper bound.
    pub max_ns: Nanos,
}

impl PollShare {
    /// The share for that thread's timeouts, in parts per million.
    pub fn ppm(&self, thread: &SleepingThread) -> i64 {
        if thread.is_nice { self.nice_ppm } else { self.plain_ppm }
    }

    /// The slack of a wait of that span: the share, or the thread's slack if that is more.
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

/// The leeway of one class of threads' timers on macOS.
#[derive(Clone, Debug)]
pub struct Tier {
    /// Its name, as a setting of the tunable.
    pub name: String,
    /// The request is shifted right by this many bits; to the left if below zero.
    pub shift: i32,
    /// The upper bound; zero means no delay.
    pub max_ns: Nanos,
}

/// From this shift on, the kernel ends such timers with no other interrupt: `latency_tier_rate_limited` of the last two
/// tiers, which only programs in App Nap have, in
/// <https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/i386/i386_timer.c>.
const RATE_LIMITED_FROM: i32 = -15;

impl Tier {
    /// Whether its timers take their whole leeway, whatever other interrupts come meanwhile.
    pub fn is_rate_limited(&self) -> bool {
        self.shift <= RATE_LIMITED_FROM
    }

    /// The leeway of a wait of that span.
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
