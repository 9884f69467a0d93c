//! Names for the scheduling policies of a thread.

use std::fmt;

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
        matches!(self, Self::Fifo(_) | Self::RoundRobin(_) | Self::TimeCritical | Self::Deadline)
    }

    /// Whether a thread under this policy is never preempted by one under `other`.
    ///
    /// ```
    /// use oversleep::Scheduling;
    ///
    /// assert!(Scheduling::Fifo(50).is_no_less_than(Scheduling::RoundRobin(50)));
    /// ```
    pub fn is_no_less_than(self, other: Self) -> bool {
        let rank = |scheduling| match scheduling {
            Self::Background => 0,
            Self::Ordinary => 1,
            Self::Fifo(priority) | Self::RoundRobin(priority) => 2 + u32::from(priority),
            Self::TimeCritical => 2 + 99,
            Self::Deadline => u32::MAX,
        };
        rank(self) >= rank(other)
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
            Self::Deadline => f.write_str("deadline"),
        }
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
}
