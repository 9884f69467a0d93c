//! What a recording can show, and what it lacks.

use oversleep_why::calls::Arch;
use oversleep_why::part::Part;

use super::Converter;
use crate::linux::POINTS;
use crate::linux::point::{Entry, place};

/// Tracepoints that a wait, one of its parts, or the cause of one needs.
const EVERY: &[&str] = &[
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    MOVES,
    "hrtimer_start",
    "hrtimer_expire_entry",
    "hrtimer_expire_exit",
    "local_timer_entry",
    "sys_enter",
    "sys_exit",
    "irq_handler_entry",
    "irq_handler_exit",
    "softirq_entry",
    "softirq_exit",
    "cpu_idle",
];

/// Needed where a thread moved to another CPU while it waited for one.
const MOVES: &str = "sched_migrate_task";

impl Converter {
    /// Whether it can show waits for a CPU only.
    pub fn is_scheduler_only(&self) -> bool {
        !self.has_calls && !self.has_timers
    }

    /// Parts that the recording doesn't show.
    pub fn unseen(&self) -> Vec<Part> {
        let can = |name| self.facts.can.has(name);
        let never = [Part::Quota, Part::Signal, Part::User, Part::Fault];
        let is_seen = |part: &Part| match part {
            Part::Requested | Part::Late | Part::Work | Part::Blocked | Part::Unattributed => true,
            part if never.contains(part) => false,
            Part::Timer => !self.has_timers && self.has_calls,
            Part::Runq => can("sched_wakeup") || self.is_scheduler_only() && can("sched_waking"),
            _ if !self.has_timers => *part == Part::Ret && self.has_calls,
            Part::Api | Part::Ret => self.has_calls,
            // Whether a timer is a thread's own, set again, or the kernel's.
            Part::Stop => self.facts.tells_sleepers(),
            Part::Slack | Part::Irq => can("hrtimer_expire_entry"),
            Part::Irqbody => can("hrtimer_expire_entry") && can("local_timer_entry"),
            Part::Wake => can("hrtimer_expire_entry") && can("sched_waking"),
            Part::Ipi => can("sched_waking") && can("sched_wakeup"),
            _ => true,
        };
        Part::ALL.iter().copied().filter(|part| !is_seen(part)).collect()
    }

    /// Tracepoints that it lacks, as recorders are told them.
    pub fn lacks(&self) -> Vec<String> {
        let on_this = |name: &&&str| **name != "local_timer_entry" || self.arch == Arch::X86_64;
        let is_needed = |name: &&&str| **name != MOVES || self.facts.has_unseen_moves;
        let lacks = EVERY.iter().filter(on_this).filter(is_needed).filter(|name| !self.facts.can.has(name));
        let entry = |name: &&str| place(name).map(|place| &POINTS[place]);
        lacks.filter_map(entry).map(Entry::full_name).collect()
    }
}
