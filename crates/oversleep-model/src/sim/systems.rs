//! The modelled systems, and the effect of their policies on a scheduler. `oversleep-system` describes what a system
//! offers; a machine's figures come from its profile.

use oversleep_system::{
    ClockInfo, HandoffInfo, LoadInfo, TunableInfo, WaitInfo, Word, clocks, handoffs, loads, tunables, waits,
};

use super::scheduler::{OnWake, Policy, PriorityIs};

/// A system by its name in results.
#[derive(Clone, Copy, Debug)]
pub struct System {
    /// `linux`, `windows`, `macos`.
    pub os: &'static str,
}

/// Every system that there is a model of.
pub const SYSTEMS: [System; 3] = [LINUX, System { os: "windows" }, System { os: "macos" }];

/// Linux.
pub const LINUX: System = System { os: "linux" };

impl System {
    /// Registry name of the clock that deadlines are on.
    pub fn reference_clock(self) -> &'static str {
        clocks::reference(self.os)
    }

    /// The clocks that its models have, whatever their architecture.
    pub fn clocks(self) -> impl Iterator<Item = &'static ClockInfo> {
        clocks::of(self.os).iter().filter(|info| info.is_modelled)
    }

    /// The clock of that name, if its models have one.
    pub fn clock(self, name: &str) -> Option<&'static ClockInfo> {
        self.clocks().find(|info| info.name == name)
    }

    /// The waits that its models have.
    pub fn waits(self) -> impl Iterator<Item = &'static WaitInfo> {
        waits::of(self.os).iter().filter(|info| info.is_modelled)
    }

    /// The hand-offs that its models have.
    pub fn handoffs(self) -> &'static [HandoffInfo] {
        handoffs::of(self.os)
    }

    /// What programs can change on its models.
    pub fn tunables(self) -> impl Iterator<Item = &'static TunableInfo> {
        tunables::of(self.os).iter().filter(|info| info.is_modelled)
    }

    /// The kinds of load that its models have.
    pub fn loads(self) -> &'static [LoadInfo] {
        loads::of(self.os)
    }

    /// The policies that a program can request, the simplest first.
    pub fn policies(self) -> Vec<Policy> {
        let words = self.tunables().filter(|info| info.name == "policy").flat_map(|info| info.words);
        words.map(|word| policy(self.os, word)).collect()
    }
}

/// The effect of a policy on the scheduler.
fn policy(os: &str, word: &Word) -> Policy {
    let plain = Policy {
        name: word.name.to_owned(),
        priority: word.numbers,
        rank: 0,
        priority_is: PriorityIs::Nothing,
        weight: 1_024,
        is_real_time: false,
        on_wake: OnWake::Displaces,
    };
    match (os, word.name) {
        ("linux", "other") => Policy { priority_is: PriorityIs::Nice, ..plain },
        // A thread under batch or idle doesn't displace a thread of another policy when it wakes up:
        // check_preempt_wakeup_fair in kernel/sched/fair.c.
        ("linux", "batch") => Policy { priority_is: PriorityIs::Nice, on_wake: OnWake::Waits, ..plain },
        // WEIGHT_IDLEPRIO in kernel/sched/sched.h.
        ("linux", "idle") => Policy { weight: 3, on_wake: OnWake::GivesWay, ..plain },
        ("linux", _) => Policy { priority_is: PriorityIs::Rank, rank: 100, is_real_time: true, ..plain },
        ("macos", "time-constraint") => Policy { rank: 100, is_real_time: true, ..plain },
        ("macos", "other") => Policy { priority_is: PriorityIs::Rank, ..plain },
        // TH_MODE_FIXED in XNU's osfmk/kern/timer_call.c: a shift of 3, at most 1 ms.
        ("macos", _) => Policy { priority_is: PriorityIs::FixedRank, ..plain },
        (_, name) => Policy { rank: windows_rank(name), ..plain },
    }
}

/// The base priority of a thread in a process of normal class, or in one whose class is raised.
/// <https://learn.microsoft.com/windows/win32/procthread/scheduling-priorities>
fn windows_rank(name: &str) -> i32 {
    match name {
        "idle" => 1,
        "lowest" => 6,
        "below-normal" => 7,
        "above-normal" => 9,
        "highest" => 10,
        "high" => 13,
        "time-critical" => 15,
        "realtime" => 24,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_what_its_rules_refer_to() {
        for system in SYSTEMS {
            assert!(system.clocks().any(|info| info.name == system.reference_clock()), "{}", system.os);
            for timer in system.loads().iter().filter_map(|load| load.timer) {
                assert!(system.waits().any(|info| info.name == timer.wait), "{}", system.os);
            }
            assert!(system.policies().len() >= 4, "{}", system.os);
        }
    }

    #[test]
    fn ranks_of_windows_differ() {
        let mut ranks: Vec<i32> = SYSTEMS[1].policies().iter().map(|policy| policy.rank).collect();
        assert_eq!(ranks[0], 8, "the simplest comes first");
        ranks.sort_unstable();
        ranks.dedup();
        assert_eq!(ranks.len(), 9);
    }
}
