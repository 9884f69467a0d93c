//! What of their own gives threads less of a CPU than those who ran instead: their policy, or their control group. A group
//! competes with the groups and tasks beside it, and its threads share what it gets, whatever their own nice values are.

use oversleep_record::ResultFile;
use oversleep_record::observed::group::{GroupSetting, GroupWeight, IDLE_SHARE};
use oversleep_record::observed::{Blame, Named};

use super::real_time::FAIR;
use super::sessions::{Apart, neighbours_of};
use crate::observed::groups::Place;
use crate::observed::{Kind, OWN_POLICY, process_of};

pub(super) const SCHED_IDLE: u32 = 5;
/// The priority of nice 0, as the kernel orders them.
pub(super) const NICE_0: i32 = 120;

/// What of their own makes threads go last.
pub(super) enum Own<'a> {
    Policy(String),
    Group(&'a GroupWeight),
}

impl<'a> Own<'a> {
    pub fn of(file: &'a ResultFile, kind: &Kind<'_>) -> Option<Own<'a>> {
        // Against other groups, no nice value helps.
        own_group(file, kind).map(Own::Group).or_else(|| own_policy(file, kind).map(Own::Policy))
    }

    pub fn instance(&self) -> String {
        match self {
            Own::Policy(name) => format!("{OWN_POLICY}{name}"),
            Own::Group(weight) => format!("{OWN_POLICY}{}", name(weight)),
        }
    }

    pub fn because(&self, kind: &Kind<'_>) -> String {
        let name = match self {
            Own::Group(weight) => return because(weight),
            Own::Policy(name) => name,
        };
        match kind.waits.policy {
            Some((SCHED_IDLE, _)) => format!("it runs at {name}, after every other task"),
            // The kernel's weights fall by a quarter with each step.
            Some((_, prio)) => {
                let times = 1.25_f64.powi(prio - NICE_0).round();
                format!("it runs at {name}, where a task at nice 0 gets about {times} times as much of a CPU")
            }
            None => format!("it runs at {name}"),
        }
    }
}

/// Those that a thread's own policy puts before it are its cause if they took 1 in so many of the time.
const BETTER_OF: i128 = 5;

/// The policy of threads that waited behind tasks whose policy or nice value is only better than theirs:
/// `SCHED_IDLE`, `nice 19`.
fn own_policy(file: &ResultFile, kind: &Kind<'_>) -> Option<String> {
    let (policy, prio) = kind.waits.policy.filter(|(policy, prio)| *policy == SCHED_IDLE || *prio > NICE_0)?;
    let is_better = |blame: &&Blame| {
        let is_fair = blame.prio >= FAIR && blame.policy != SCHED_IDLE;
        is_fair && (policy == SCHED_IDLE || blame.prio < prio) && Apart::of(file, kind.waits.tgid, blame).is_none()
    };
    let all = kind.waits.blames.iter().map(|blame| i128::from(blame.total_ns)).sum::<i128>();
    let better = kind.waits.blames.iter().filter(is_better).map(|blame| i128::from(blame.total_ns)).sum::<i128>();
    let name = || if policy == SCHED_IDLE { "SCHED_IDLE".to_owned() } else { format!("nice {}", prio - NICE_0) };
    // It goes after these whatever the others are.
    (all > 0 && better * BETTER_OF >= all).then(name)
}

/// The group of these threads that has less of a CPU than those who mostly ran instead, as far as both sides' groups were
/// seen.
fn own_group<'a>(file: &'a ResultFile, kind: &Kind<'_>) -> Option<&'a GroupWeight> {
    let own = process_of(file, kind.waits.tgid)?;
    let below = |blame: &Blame| {
        let mut others = neighbours_of(file, blame).peekable();
        others.peek().filter(|_| blame.prio >= FAIR)?;
        let all: Option<Vec<&GroupWeight>> = others.map(|other| outweighed(own, other, blame)).collect();
        all?.first().copied()
    };
    let total = |blames: &mut dyn Iterator<Item = &Blame>| blames.map(|blame| i128::from(blame.total_ns)).sum::<i128>();
    let all = total(&mut kind.waits.blames.iter());
    let first = kind.waits.by_blame().into_iter().find_map(below)?;
    let by_group = total(&mut kind.waits.blames.iter().filter(|blame| below(blame) == Some(first)));
    (by_group * 2 >= all).then_some(first)
}

/// The group of the process that loses against another one's: of those that only one of them is in, the outermost.
fn outweighed<'a>(own: &'a Named, other: &Named, blame: &Blame) -> Option<&'a GroupWeight> {
    let (path, other_path) = (own.cgroup.as_deref()?, other.cgroup.as_deref()?);
    let common = levels(path).zip(levels(other_path)).take_while(|(own, other)| own == other).count();
    let weight = weight_at(own, levels(path).nth(common)?)?;
    let beside = match levels(other_path).nth(common) {
        Some(level) => weight_at(other, level).map_or(1.0, GroupWeight::share),
        None if blame.policy == SCHED_IDLE => IDLE_SHARE,
        // The kernel's weights fall by a quarter with each step. What is nicer than others needs no more than the default.
        None => 0.8_f64.powi((blame.prio - NICE_0).max(0)),
    };
    (weight.share() < beside.min(1.0)).then_some(weight)
}

/// The groups on the way to one: `/a`, `/a/b`.
fn levels(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').skip(1).map(|(at, _)| &path[..at]).chain((path != "/").then_some(path))
}

fn weight_at<'a>(process: &'a Named, group: &str) -> Option<&'a GroupWeight> {
    process.weights.iter().find(|weight| weight.group == group)
}

/// `group /batch (cpu.weight 10)`.
pub(super) fn name(weight: &GroupWeight) -> String {
    format!("group {} ({} {})", Place::of(&weight.group), weight.setting.name(), weight.value)
}

/// Why its threads come late, as the rest of a sentence.
fn because(weight: &GroupWeight) -> String {
    let (group, setting, value) = (Place::of(&weight.group), weight.setting.name(), weight.value);
    match weight.setting {
        GroupSetting::CpuIdle => {
            format!("its own group {group} has {setting} {value}, after every other group and task")
        }
        _ => format!("its own group {group} has {setting} {value} (the default is {})", weight.setting.default_value()),
    }
}

/// What to do, and the command.
pub(super) fn advice(weight: &GroupWeight) -> (String, String) {
    let (setting, value) = (weight.setting.name(), weight.setting.default_value());
    let place = Place::of(&weight.group);
    let or = if matches!(place, Place::Unit(_)) { ", or CPUWeight=100 in its unit" } else { "" };
    let sentence = format!("Give {place} the share that other groups have: {setting} {value}{or}");
    let command = match &place {
        Place::Unit(name) => format!("systemctl set-property {name} CPUWeight=100"),
        Place::Container { tool, id } => format!("{tool} update --cpu-shares 1024 {id}"),
        _ => format!("echo {value} > {}/{setting}", weight.folder),
    };
    (sentence, format!("# command\n{command}"))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;
    use oversleep_record::observed::Observation;
    use oversleep_record::observed::culprit::Why;
    use oversleep_record::observed::group::Autogroup;
    use oversleep_record::part::Parts;
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::observed::testing::{blame, waits};

    fn process(tgid: u32, name: &str, cgroup: &str, weights: &[(&str, GroupSetting, u64)]) -> Named {
        let weight = |&(group, setting, value): &(&str, GroupSetting, u64)| {
            let folder = format!("/sys/fs/cgroup{group}");
            GroupWeight { group: group.to_owned(), folder, setting, value }
        };
        let weights = weights.iter().map(weight).collect();
        Named { tgid, name: name.to_owned(), cgroup: Some(cgroup.to_owned()), weights, ..Named::default() }
    }

    /// The finding about a process that waited while `hog` ran, as process 9: its sentence and first advice.
    fn concluded(own: Named, others: Vec<Named>, hog: (u32, i32)) -> (String, String) {
        let (sentence, advice) = all_concluded(own, (0, 120), others, hog);
        (sentence, advice[0].clone())
    }

    /// The finding about a process of that policy: its sentence and all advice.
    fn all_concluded(own: Named, policy: (u32, i32), others: Vec<Named>, hog: (u32, i32)) -> (String, Vec<String>) {
        let mut series = waits(1, 12, Parts { runq: 5_000_000, ..Parts::default() });
        let observed = series.observed.as_mut().expect("it was observed");
        let why = if hog.0 == SCHED_IDLE { Why::NotYetPreempted } else { Why::TurnNotOver };
        let hog = Blame { policy: hog.0, why, ..blame("hog", hog.1, 12, 50_000_000) };
        (observed.policy, observed.blames, observed.tgid) = (Some(policy), vec![hog], own.tgid);
        let mut file = Sheet::linux().file;
        let observation = Observation { processes: vec![own], neighbours: others, ..Observation::default() };
        (file.series, file.observation) = (vec![series], Some(observation));
        let found = crate::findings(&file).into_iter().find(|one| one.id == "OVS-Y015").expect("it is checked");
        assert_eq!(found.verdict, Verdict::Found);
        let advice = found.advice.iter();
        let advice = advice.map(|one| format!("{}: {}", one.sentence, one.example.as_deref().unwrap_or_default()));
        (found.sentence, advice.collect())
    }

    const WEIGHT: GroupSetting = GroupSetting::CpuWeight;
    const FAIR_0: (u32, i32) = (0, 120);

    fn root() -> Vec<Named> {
        vec![process(9, "hog", "/", &[])]
    }

    #[test]
    fn a_group_that_gets_less_than_those_who_ran_is_the_cause() {
        let batch = || process(7, "app", "/batch", &[("/batch", WEIGHT, 10)]);
        let (sentence, advice) = concluded(batch(), root(), FAIR_0);
        assert_eq!(
            sentence,
            "app: nanosleep for 1 ms waits for a CPU because its own group /batch has cpu.weight 10 (the default is 100): \
             60 ms in all, 5 ms at most, while hog (SCHED_OTHER, nice 0) ran"
        );
        assert_eq!(
            advice,
            "Give /batch the share that other groups have: cpu.weight 100: \
             # command\necho 100 > /sys/fs/cgroup/batch/cpu.weight"
        );
        let nested = process(7, "app", "/low.slice/app.service", &[("/low.slice", WEIGHT, 10)]);
        let beside = vec![process(9, "hog", "/system.slice/hog.service", &[])];
        let (sentence, advice) = concluded(nested, beside, FAIR_0);
        assert!(sentence.contains("its own group low.slice has cpu.weight 10"), "{sentence}");
        assert!(advice.ends_with("systemctl set-property low.slice CPUWeight=100"), "{advice}");
        let idle = process(7, "app", "/batch", &[("/batch", GroupSetting::CpuIdle, 1)]);
        let (sentence, advice) = concluded(idle, root(), FAIR_0);
        assert!(sentence.contains("has cpu.idle 1, after every other group and task"), "{sentence}");
        assert!(advice.ends_with("echo 0 > /sys/fs/cgroup/batch/cpu.idle"), "{advice}");
    }

    #[test]
    fn a_group_is_not_the_cause_where_it_is_not_known_to_lose() {
        let low = ("/batch", WEIGHT, 10);
        let batch = || process(7, "app", "/batch/app", &[low]);
        let is_cause =
            |own: Named, others: Vec<Named>, hog: (u32, i32)| concluded(own, others, hog).0.contains("own group");
        assert!(is_cause(batch(), root(), FAIR_0));
        assert!(!is_cause(batch(), Vec::new(), FAIR_0), "the other's group is unknown");
        assert!(!is_cause(process(7, "app", "/batch", &[]), root(), FAIR_0), "it has the default");
        assert!(!is_cause(process(7, "app", "/batch", &[("/batch", WEIGHT, 200)]), root(), FAIR_0), "it has more");
        assert!(!is_cause(batch(), vec![process(9, "hog", "/batch/hog", &[low])], FAIR_0), "both are in it");
        assert!(!is_cause(batch(), vec![process(9, "hog", "/batch", &[low])], FAIR_0), "both are in it");
        let lower = process(9, "hog", "/lower", &[("/lower", WEIGHT, 5)]);
        assert!(!is_cause(batch(), vec![lower.clone()], FAIR_0), "the other one has even less");
        assert!(!is_cause(batch(), [root(), vec![lower]].concat(), FAIR_0), "which hog it was is unknown");
        assert!(!is_cause(batch(), root(), (1, 49)), "a real-time task goes before every group");
        assert!(!is_cause(batch(), root(), (0, 139)), "a task at nice 19 has less");
        assert!(!is_cause(batch(), root(), (5, 120)), "an idle task has less");
    }

    fn of_session(tgid: u32, name: &str, id: u64) -> Named {
        Named { autogroup: Some(Autogroup { id, nice: 0 }), ..process(tgid, name, "/", &[]) }
    }

    #[test]
    fn a_nice_value_counts_within_one_session_only() {
        let app = || of_session(7, "app", 40);
        let (nice_19, idle) = ((0, 139), (5, 120));
        // Low itself, and beside a task of another session, its own nice value takes nothing from it.
        let (sentence, _) = all_concluded(app(), nice_19, vec![of_session(9, "hog", 41)], FAIR_0);
        assert!(sentence.contains("waits for a CPU while hog (SCHED_OTHER, nice 0) runs: "), "{sentence}");
        let (sentence, _) = all_concluded(app(), nice_19, vec![of_session(9, "hog", 40)], FAIR_0);
        assert!(sentence.contains("because it runs at nice 19"), "one session: {sentence}");
        // Low the other way round.
        let (sentence, advice) = all_concluded(app(), FAIR_0, vec![of_session(9, "hog", 41)], idle);
        assert!(
            sentence.contains("hog (SCHED_IDLE) runs, whose policy counts only within its own session (autogroup): "),
            "{sentence}"
        );
        let advice = advice.join(" | ");
        assert!(advice.contains("let the whole session of hog go last: echo 19 > /proc/"), "{advice}");
        assert!(!advice.contains("renice"), "{advice}");
        let grouped = vec![process(9, "hog", "/batch", &[])];
        let (sentence, advice) = all_concluded(app(), FAIR_0, grouped, (0, 130));
        assert!(sentence.contains("whose nice value counts only within its own control group: "), "{sentence}");
        assert!(advice.join(" | ").contains("give the control group of hog less cpu.weight"), "{advice:?}");
        let (sentence, advice) = all_concluded(app(), FAIR_0, vec![of_session(9, "hog", 40)], (0, 130));
        assert!(!sentence.contains("counts only") && advice.join(" | ").contains("renice"), "{sentence} {advice:?}");
        let (_, advice) = all_concluded(app(), FAIR_0, vec![of_session(9, "hog", 40)], idle);
        assert!(advice.join(" | ").contains("PREEMPT_RT"), "{advice:?}");
    }
}
