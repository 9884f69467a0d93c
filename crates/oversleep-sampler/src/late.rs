//! Late waits as they happen, with what is known about them.

use std::fmt;

use oversleep_record::{Disturbance, Nanos};

use crate::burst::{Ended, Kind, Wait};

/// What delayed a wait, as far as counters tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The thread was runnable and waited for a CPU: others ran.
    Preempted,
    /// The CPU quota of the control group was used up.
    Throttled,
    /// The hypervisor ran something else.
    Stolen,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 3] = [Cause::Preempted, Cause::Throttled, Cause::Stolen];

    /// In a word, as documents have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::Preempted => "preempted",
            Cause::Throttled => "throttled",
            Cause::Stolen => "steal",
        }
    }
}

/// A wait that ended late, with those after it whose deadlines passed because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateWait {
    /// The wait, which is the latest of them.
    pub wait: Wait,
    /// How many deadlines after it had passed when it ended: a stop of the process or the machine delays several waits.
    pub missed_after: u64,
    /// What happened to this thread during the wait, or to the machine in the time of its burst, the longest first.
    pub causes: Vec<(Cause, Nanos)>,
    /// The time over which throttling and steal were counted.
    pub window: Nanos,
    /// When its burst ended, in seconds since 1970: what a log of something else is compared with.
    pub unix_s: Option<i64>,
}

impl LateWait {
    /// The wait with what is known: its own time without a CPU, and what `during` says of the whole burst.
    pub fn of(wait: Wait, during: &Disturbance, unix_s: Option<i64>) -> LateWait {
        let known = [
            (Cause::Preempted, wait.run_delay),
            (Cause::Throttled, during.throttled_ns),
            (Cause::Stolen, during.steal_ns),
        ];
        // A delay of a few µs is a wake-up's own.
        let least = Nanos(wait.lateness.0 / 10);
        let mut causes: Vec<(Cause, Nanos)> =
            known.into_iter().filter_map(|(cause, time)| Some((cause, time.filter(|time| *time > least)?))).collect();
        // No cause delayed it by more than it was late; of those that may explain all, its own time is the surest.
        causes.sort_by_key(|(_, time)| std::cmp::Reverse((*time).min(wait.lateness)));
        LateWait { wait, missed_after: 0, causes, window: during.window_ns, unix_s }
    }
}

/// `1 ms ended 3.2 ms late, and the next 3 deadlines passed: 2.9 ms waiting for a CPU`.
impl fmt::Display for LateWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wait { kind, requested, lateness, .. } = self.wait;
        let what = if kind == Kind::Pause { "pause of " } else { "" };
        if self.wait.ended == Ended::Missed {
            write!(f, "{what}{requested} began {lateness} after its deadline")?;
        } else {
            write!(f, "{what}{requested} ended {lateness} late")?;
        }
        match self.missed_after {
            0 => {}
            1 => f.write_str(", and the next deadline passed")?,
            many => write!(f, ", and the next {many} deadlines passed")?,
        }
        f.write_str(": ")?;
        let words: Vec<String> = self.causes.iter().map(|(cause, time)| self.cause(*cause, *time)).collect();
        f.write_str(if words.is_empty() { "no cause in the counters" } else { "" })?;
        f.write_str(&words.join(", "))
    }
}

impl LateWait {
    fn cause(&self, cause: Cause, time: Nanos) -> String {
        let window = self.window;
        match cause {
            Cause::Preempted => format!("{time} waiting for a CPU"),
            Cause::Throttled => format!("{time} throttled in {window}"),
            Cause::Stolen => format!("{time} stolen in {window}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_wait_names_what_is_known_and_says_when_nothing_is() {
        let ms = Nanos::from_millis;
        let wait = |run_delay| Wait {
            kind: Kind::Burst,
            requested: ms(1),
            end: ms(9),
            lateness: ms(3),
            ended: Ended::TimedOut,
            run_delay,
        };
        let quiet = Disturbance { window_ns: ms(900), ..Disturbance::default() };
        let late = |run_delay, during: &Disturbance| LateWait::of(wait(run_delay), during, None).to_string();
        assert_eq!(late(None, &quiet), "1 ms ended 3 ms late: no cause in the counters");
        assert_eq!(late(Some(Nanos(299_999)), &quiet), "1 ms ended 3 ms late: no cause in the counters");
        let throttled = Disturbance { throttled_ns: Some(ms(40)), steal_ns: Some(ms(10)), ..quiet };
        assert_eq!(
            late(Some(ms(2)), &throttled),
            "1 ms ended 3 ms late: 40 ms throttled in 900 ms, 10 ms stolen in 900 ms, 2 ms waiting for a CPU"
        );
        let stolen = Disturbance { steal_ns: Some(ms(10)), ..quiet };
        assert_eq!(late(Some(ms(3)), &stolen), "1 ms ended 3 ms late: 3 ms waiting for a CPU, 10 ms stolen in 900 ms");
        let missed = LateWait::of(Wait { ended: Ended::Missed, ..wait(None) }, &quiet, None);
        assert_eq!(missed.to_string(), "1 ms began 3 ms after its deadline: no cause in the counters");
        let stop =
            |missed_after| LateWait { missed_after, ..LateWait::of(wait(Some(ms(3))), &quiet, None) }.to_string();
        assert_eq!(stop(1), "1 ms ended 3 ms late, and the next deadline passed: 3 ms waiting for a CPU");
        assert_eq!(stop(2), "1 ms ended 3 ms late, and the next 2 deadlines passed: 3 ms waiting for a CPU");
    }
}
