//! How threads share the CPUs: the figures of a scheduler, and the effect of a policy.

use oversleep_record::Nanos;

use super::spread::Spread;

/// How runnable threads share the CPUs.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// Which thread runs next.
    pub kind: SchedulerKind,
    /// How long a thread runs while another of its rank waits.
    pub slice_ns: Nanos,
    /// The delay until a runnable thread displaces another one.
    pub preempt_delay: Spread,
    /// Whether a thread that yields gives up what is left of its slice; otherwise its next one comes later, and it runs on
    /// while it has had less than the others.
    pub yield_forfeits: bool,
    /// CPU time of a wake-up that counts towards the share of the thread that wakes up.
    pub wake_cpu_ns: Nanos,
    /// When a thread runs although threads of a higher rank take all CPUs.
    pub starving: Starving,
    /// The policies that a program can request, the simplest first.
    pub policies: Vec<Policy>,
    /// Name and priority of the policy that a program starts under.
    pub initial: (String, i32),
}

/// When a thread gets a slice although threads of a higher rank take all CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starving {
    /// The minimum waiting time.
    pub after_ns: Nanos,
    /// The period at which the system looks for such threads; it helps at the next multiple.
    pub look_ns: Nanos,
}

impl Starving {
    /// When a thread that has been waiting since then gets a slice.
    pub(super) fn helped_at(&self, since: Nanos) -> Nanos {
        (since + self.after_ns).round_up_to(self.look_ns.max(Nanos(1)))
    }
}

/// Which thread runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerKind {
    /// The thread that has run least; one that slept displaces one that ran.
    Fair,
    /// Linux since 6.6: the thread with the earliest deadline of those that have had no more than their share. While such
    /// a thread runs, it is protected until its slice ends.
    Eevdf,
    /// Linux before 6.6: the thread that has run least; one that slept is credited for it.
    Cfs {
        /// The time in which each thread of a CPU runs once.
        latency_ns: Nanos,
        /// How much more than a thread that wakes up another must have run to be displaced by it.
        wakeup_ns: Nanos,
    },
    /// One thread after the other; slices end at timer interrupts, and only a higher rank displaces.
    RoundRobin,
}

/// A policy, and the range of its priority.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The word of the tunable.
    pub name: String,
    /// Lowest and highest priority or nice value.
    pub priority: (i32, i32),
    /// Threads of a higher rank run before all of a lower one. A priority that ranks is added.
    pub rank: i32,
    /// The effect of the priority.
    pub priority_is: PriorityIs,
    /// Share of the CPU at nice 0, where a plain thread has 1024.
    pub weight: u32,
    /// Whether its threads' timers have no slack.
    pub is_real_time: bool,
    /// The effect of its threads on others of their rank when they wake up.
    pub on_wake: OnWake,
}

/// The effect of a policy's threads on others of their rank when they wake up, on systems where policies differ in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnWake {
    /// Displace them if their share allows it.
    Displaces,
    /// Wait until a slice ends.
    Waits,
    /// Wait until a slice ends, and are displaced by all others.
    GivesWay,
}

/// The effect of a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityIs {
    /// Nothing, because there is none.
    Nothing,
    /// It ranks: a higher one runs before a lower one.
    Rank,
    /// It ranks and doesn't decay with used CPU time; the coalescing of timers treats such threads separately.
    FixedRank,
    /// It is a nice value: each step takes a fifth of the share.
    Nice,
}

/// The scheduler's view of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub policy: usize,
    pub priority: i32,
    pub rank: i32,
    pub weight: u32,
    pub is_real_time: bool,
    pub on_wake: OnWake,
    pub has_fixed_priority: bool,
}

impl PriorityIs {
    /// Whether threads with a higher one run before those with a lower one.
    pub(super) fn ranks(self) -> bool {
        matches!(self, PriorityIs::Rank | PriorityIs::FixedRank)
    }
}

impl Scheduler {
    /// The standing of a policy; `None` for an unknown name or a priority out of range.
    pub(super) fn standing(&self, policy: &str, priority: i32) -> Option<Standing> {
        let index = self.policies.iter().position(|known| known.name == policy)?;
        let known = &self.policies[index];
        (known.priority.0..=known.priority.1).contains(&priority).then(|| known.standing(index, priority))
    }

    /// The standing that a program starts with.
    pub(super) fn initial(&self) -> Standing {
        self.standing(&self.initial.0, self.initial.1).unwrap_or_else(|| self.plain())
    }

    /// The standing of other threads: the same, unless it needs a privilege.
    pub(super) fn plain(&self) -> Standing {
        let initial = self.standing(&self.initial.0, self.initial.1).filter(|initial| !initial.is_real_time);
        let first = || self.policies.first().map(|first| first.standing(0, 0));
        let nothing = Standing {
            policy: 0,
            priority: 0,
            rank: 0,
            weight: 1_024,
            is_real_time: false,
            on_wake: OnWake::Displaces,
            has_fixed_priority: false,
        };
        initial.or_else(first).unwrap_or(nothing)
    }
}

impl Policy {
    fn standing(&self, index: usize, priority: i32) -> Standing {
        // Five steps of nice are a factor of three: sched_prio_to_weight in kernel/sched/core.c is 1024 / 1.25^nice.
        let weight = match self.priority_is {
            PriorityIs::Nice => (f64::from(self.weight) / 1.25_f64.powi(priority)).round().max(1.0) as u32,
            PriorityIs::Nothing | PriorityIs::Rank | PriorityIs::FixedRank => self.weight.max(1),
        };
        Standing {
            policy: index,
            priority,
            rank: self.rank + if self.priority_is.ranks() { priority } else { 0 },
            weight,
            is_real_time: self.is_real_time,
            on_wake: self.on_wake,
            has_fixed_priority: self.priority_is == PriorityIs::FixedRank,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nice_is_a_share_and_a_priority_a_rank() {
        let policy = |name: &str, priority, rank, priority_is| Policy {
            name: name.to_owned(),
            priority,
            rank,
            priority_is,
            weight: 1_024,
            is_real_time: rank > 0,
            on_wake: OnWake::Displaces,
        };
        let scheduler = Scheduler {
            kind: SchedulerKind::Fair,
            slice_ns: Nanos(3_000_000),
            yield_forfeits: false,
            preempt_delay: Spread::fixed(Nanos::ZERO),
            wake_cpu_ns: Nanos::ZERO,
            starving: Starving { after_ns: Nanos::from_secs(4), look_ns: Nanos::from_secs(1) },
            policies: vec![
                policy("other", (-20, 19), 0, PriorityIs::Nice),
                policy("fifo", (1, 99), 100, PriorityIs::Rank),
            ],
            initial: ("fifo".to_owned(), 1),
        };
        assert_eq!(scheduler.initial().rank, 101);
        assert_eq!(scheduler.plain().weight, 1_024);
        assert_eq!(scheduler.standing("other", 5).unwrap().weight, 336);
        assert_eq!(scheduler.standing("other", 20), None);
        assert_eq!(scheduler.standing("fifo", 80).unwrap().rank, 180);
        assert_eq!(scheduler.standing("fifo", 0), None);
        assert_eq!(scheduler.standing("batch", 0), None);
    }
}
