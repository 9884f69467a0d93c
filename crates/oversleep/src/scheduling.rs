//! Names for the scheduling policies of a thread.

use std::fmt;
use std::time::Duration;

/// The scheduling policy of a thread.
///
/// ```
/// assert!(oversleep::Scheduling::Fifo(10).is_real_time());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheduling {
    /// The system's default time-sharing policy.
    Ordinary,
    /// A batch or idle policy, which yields to ordinary threads.
    Background,
    /// First in, first out, ahead of every ordinary thread; the priority is 1 (low) to 99.
    Fifo(u8),
    /// Like first in, first out, but threads of equal priority take turns.
    RoundRobin(u8),
    /// The highest thread priority in an ordinary process (Windows).
    TimeCritical,
    /// The multimedia class for professional audio (Windows).
    Multimedia,
    /// A policy that guarantees the thread a share of each period (`SCHED_DEADLINE`; time constraints on macOS).
    Deadline,
}

impl Scheduling {
    /// Whether threads under this policy run ahead of every ordinary thread.
    ///
    /// ```
    /// use oversleep::Scheduling;
    ///
    /// assert!(Scheduling::TimeCritical.is_real_time() && !Scheduling::Background.is_real_time());
    /// ```
    pub fn is_real_time(self) -> bool {
        matches!(self, Self::Fifo(_) | Self::RoundRobin(_) | Self::TimeCritical | Self::Multimedia | Self::Deadline)
    }

    /// Whether a thread under this policy is never preempted by one under `other`.
    ///
    /// ```
    /// use oversleep::Scheduling;
    ///
    /// assert!(Scheduling::Fifo(50).is_no_less_than(Scheduling::RoundRobin(50)));
    /// ```
    pub fn is_no_less_than(self, other: Self) -> bool {
        self.rank() >= other.rank()
    }

    /// Higher is more urgent.
    pub(crate) fn rank(self) -> u32 {
        match self {
            Self::Background => 0,
            Self::Ordinary => 1,
            Self::Fifo(priority) | Self::RoundRobin(priority) => 2 + u32::from(priority),
            Self::TimeCritical => 2 + 99,
            Self::Multimedia => 2 + 100,
            Self::Deadline => u32::MAX,
        }
    }
}

impl fmt::Debug for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ordinary => f.write_str("ordinary"),
            Self::Background => f.write_str("background"),
            Self::Fifo(priority) => write!(f, "fifo {priority}"),
            Self::RoundRobin(priority) => write!(f, "round-robin {priority}"),
            Self::TimeCritical => f.write_str("time-critical"),
            Self::Multimedia => f.write_str("multimedia"),
            Self::Deadline => f.write_str("deadline"),
        }
    }
}

/// A request for a real-time policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "no system uses both")]
pub(crate) struct RealTimeRequest {
    /// 1 to 99, where policies have priorities.
    pub(crate) priority: u8,
    /// How often the thread has work, for systems that need to know.
    pub(crate) period: Option<Duration>,
    /// Whether to ask RealtimeKit if the system refuses.
    pub(crate) asks_rtkit: bool,
}

/// Time constraints (macOS): the computation in each period, and how soon after it begins it must be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "only macOS has them, and every system tests the arithmetic")]
pub(crate) struct Constraints {
    pub(crate) period_ns: u64,
    pub(crate) computation_ns: u64,
    pub(crate) constraint_ns: u64,
}

#[allow(dead_code, reason = "as above")]
impl Constraints {
    /// Without a period, as for audio: 1 ms within 2.5 ms in each 5 ms.
    const AUDIO_PERIOD_NS: u64 = 5_000_000;
    /// xnu refuses less than 50 µs and more than 50 ms of computation (osfmk/kern/sched_prim.c).
    const COMPUTATION_NS: (u64, u64) = (50_000, 50_000_000);
    /// The structure holds 32 bits of the counter's units, which are at least 1 ns.
    const LONGEST_PERIOD_NS: u64 = 4_000_000_000;

    /// The constraints for work in each period: a fifth of it, finished within its first half.
    pub(crate) fn for_period(period: Option<Duration>) -> Constraints {
        let period_ns =
            period.map_or(Self::AUDIO_PERIOD_NS, |period| u64::try_from(period.as_nanos()).unwrap_or(u64::MAX));
        let (least_ns, most_ns) = Self::COMPUTATION_NS;
        let period_ns = period_ns.clamp(2 * least_ns, Self::LONGEST_PERIOD_NS);
        let computation_ns = (period_ns / 5).clamp(least_ns, most_ns);
        Constraints { period_ns, computation_ns, constraint_ns: (period_ns / 2).max(computation_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_ordered() {
        assert!(Scheduling::Fifo(50).is_no_less_than(Scheduling::RoundRobin(50)));
        assert!(!Scheduling::Fifo(49).is_no_less_than(Scheduling::Fifo(50)));
        assert!(Scheduling::Deadline.is_no_less_than(Scheduling::Fifo(99)));
        assert!(!Scheduling::Ordinary.is_no_less_than(Scheduling::Fifo(1)));
        assert!(!Scheduling::Background.is_real_time());
    }

    #[test]
    fn constraints_fit_the_rate() {
        let of = |period| {
            let Constraints { period_ns, computation_ns, constraint_ns } = Constraints::for_period(period);
            (period_ns, computation_ns, constraint_ns)
        };
        assert_eq!(of(None), (5_000_000, 1_000_000, 2_500_000));
        assert_eq!(of(Some(Duration::from_millis(1))), (1_000_000, 200_000, 500_000));
        assert_eq!(of(Some(Duration::from_micros(16_667))), (16_667_000, 3_333_400, 8_333_500));
        // No more and no less than the system accepts.
        assert_eq!(of(Some(Duration::ZERO)), (100_000, 50_000, 50_000));
        assert_eq!(of(Some(Duration::from_secs(1))), (1_000_000_000, 50_000_000, 500_000_000));
        assert_eq!(of(Some(Duration::MAX)), (4_000_000_000, 50_000_000, 2_000_000_000));
    }
}
