//! Who may keep a thread waiting, and why.

pub use oversleep_record::observed::culprit::*;

/// One turn of a task on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub tid: u32,
    pub tgid: u32,
    pub name: crate::event::Name,
    pub policy: u32,
    pub prio: i32,
    pub cpus_allowed: u32,
    pub whose: Whose,
    /// The name of its process then, where that was told.
    pub process: Option<crate::event::Name>,
    pub from: u64,
    pub to: u64,
}

/// What makes turns those of one task: thread, name, policy and priority.
pub(crate) type Task = (u32, crate::event::Name, u32, i32);

impl Turn {
    pub fn task(&self) -> Task {
        (self.tid, self.name, self.policy, self.prio)
    }

    /// The part of the turn between two times.
    pub fn overlap(&self, from: u64, to: u64) -> Option<Span> {
        let span = Span { from_ns: self.from.max(from), to_ns: self.to.min(to) };
        (span.from_ns < span.to_ns).then_some(span)
    }
}

/// The order of tasks, lowest first: deadline, real-time, fair, idle; then the priority among real-time tasks.
fn rank(policy: u32, prio: i32) -> (u32, i32) {
    match policy {
        6 => (0, 0),
        _ if prio < 0 => (0, 0),
        _ if prio < 100 => (1, prio),
        5 => (3, 0),
        _ => (2, 0),
    }
}

/// Why one task may keep another one waiting.
pub fn why(culprit: (u32, i32), victim: (u32, i32)) -> Why {
    let (culprit, victim) = (rank(culprit.0, culprit.1), rank(victim.0, victim.1));
    if culprit.0 < victim.0 {
        Why::HigherPolicy
    } else if culprit.0 > victim.0 {
        Why::NotYetPreempted
    } else if culprit.0 >= 2 {
        Why::TurnNotOver
    } else if culprit.1 <= victim.1 {
        Why::HigherPriority
    } else {
        Why::NotYetPreempted
    }
}

/// The kernel's names of softirqs, by number.
pub(crate) const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_only_touches_a_span_has_no_part_of_it() {
        let (whose, name) = (Whose::Program, [0; 16]);
        let turn = Turn {
            tid: 1,
            tgid: 1,
            name,
            policy: 0,
            prio: 120,
            cpus_allowed: 1,
            whose,
            process: None,
            from: 10,
            to: 20,
        };
        assert_eq!([turn.overlap(0, 10), turn.overlap(20, 30)], [None, None]);
        assert_eq!(turn.overlap(15, 30), Some(Span { from_ns: 15, to_ns: 20 }));
    }

    #[test]
    fn who_may_run_first_is_decided_by_policy_then_priority() {
        let (fifo_50, fifo_10, fair, idle, deadline) = ((1, 49), (1, 89), (0, 120), (5, 120), (6, -1));
        assert_eq!(why(fifo_10, fair), Why::HigherPolicy);
        assert_eq!(why(deadline, fifo_50), Why::HigherPolicy);
        assert_eq!(why(fifo_50, fifo_10), Why::HigherPriority);
        assert_eq!(why(fifo_50, fifo_50), Why::HigherPriority);
        assert_eq!(why(fifo_10, fifo_50), Why::NotYetPreempted);
        assert_eq!(why(fair, fair), Why::TurnNotOver);
        assert_eq!(why(idle, fair), Why::NotYetPreempted);
    }
}
