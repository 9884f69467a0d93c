//! Recordings of one run, in each form: a program that waits in several ways, on Linux 6.18 with two CPUs. trace-cmd wrote
//! `waits.7.dat` of `waits.6.dat`; `waits.perf.data` has the same records as samples. Names of other tasks are replaced.

mod broken;
#[path = "../shared/mod.rs"]
mod shared;
mod support;
mod text;
mod wakes;

use std::collections::BTreeMap;

use oversleep_recordings::{FORMATS, recognise, replay};
use oversleep_why::part::Part;
use oversleep_why::{Outcome, Wait};

use support::{FILES, PERF, TRACE_6, lacking, lossy, piped, results, waits, zipped};

#[test]
fn every_file_is_recognised_by_its_content() {
    for (name, bytes) in FILES {
        assert_eq!(recognise(&bytes[..64]).map(|format| format.name), Some(*name));
    }
    assert!(recognise(b"oversleep-why 1\n").is_none() && recognise(b"").is_none());
}

#[test]
fn counts_are_those_that_trace_cmd_and_perf_print() {
    // `trace-cmd report` and `perf script`, by event.
    let expected = [
        ("sched:sched_switch", 1004),
        ("sched:sched_waking", 901),
        ("sched:sched_wakeup", 901),
        ("sched:sched_process_fork", 16),
        ("timer:hrtimer_start", 952),
        ("timer:hrtimer_expire_entry", 937),
        ("timer:hrtimer_expire_exit", 937),
        ("irq_vectors:local_timer_entry", 670),
        ("irq_vectors:local_timer_exit", 670),
        ("irq:softirq_entry", 115),
        ("irq:softirq_exit", 115),
        ("power:cpu_idle", 47),
        ("raw_syscalls:sys_enter", 1334),
        ("raw_syscalls:sys_exit", 1326),
    ];
    for (name, bytes) in FILES {
        let opened = recognise(bytes).unwrap().open(bytes).unwrap();
        let counts: Vec<(&str, u64)> = opened.counts.iter().map(|(name, count)| (&**name, *count)).collect();
        assert_eq!(counts, expected, "{name}");
    }
}

#[test]
fn one_run_has_the_same_waits_in_every_form() {
    let of_trace = waits(TRACE_6);
    assert_eq!(of_trace.len(), 861);
    let forms = [piped(PERF), zipped(PERF)];
    for bytes in FILES.iter().map(|(_, bytes)| *bytes).chain(forms.iter().map(|bytes| &bytes[..])) {
        assert!(waits(bytes) == of_trace);
    }
}

/// The kernel told of few switches away from the idle task: the events of a thread show that it runs.
#[test]
fn who_ran_is_seen_without_its_switch_in() {
    let all = waits(TRACE_6);
    let latest = all.iter().filter(|wait| wait.thread == "v-futex").max_by_key(|wait| wait.lateness_ns).unwrap();
    let culprit = &latest.culprits[0];
    assert_eq!((latest.lateness_ns, &*culprit.name, culprit.ran_ns / 1_000), (3_135_887, "hog-fifo", 3_008));
}

/// The rest of a wait is not split where the kernel didn't tell that its thread got a CPU: nothing else is missing.
#[test]
fn what_is_not_split_lacks_its_switch_in() {
    let by_timer: Vec<Wait> = waits(TRACE_6).into_iter().filter(|wait| wait.outcome == Outcome::Timer).collect();
    let (split, rest): (Vec<&Wait>, Vec<&Wait>) = by_timer.iter().partition(|wait| wait.parts.unattributed == 0);
    assert_eq!((split.len(), rest.len()), (396, 457));
    let has_switch = rest.iter().filter(|wait| wait.marks.running.is_some()).count();
    assert_eq!((has_switch, split.iter().filter(|wait| wait.marks.running.is_none()).count()), (0, 0));
}

/// By thread and call: how many waits, and the sum of each part in µs.
#[test]
fn a_summary_of_the_run() {
    let mut kinds: BTreeMap<String, (u64, BTreeMap<&str, i64>)> = BTreeMap::new();
    for wait in waits(TRACE_6).iter().filter(|wait| wait.outcome == Outcome::Timer) {
        let call = wait.timer.as_deref().or(wait.call.as_deref()).unwrap_or("unknown");
        let kind = kinds.entry(format!("{} {call}", wait.thread)).or_default();
        kind.0 += 1;
        for (part, ns) in wait.parts.iter().filter(|(_, ns)| *ns != 0) {
            *kind.1.entry(part.name()).or_default() += ns / 1_000;
        }
    }
    let line = |(kind, (count, parts)): (&String, &(u64, BTreeMap<&str, i64>))| {
        let parts: Vec<String> = parts.iter().map(|(part, us)| format!("{part} {us}")).collect();
        format!("{kind}: {count} ({})", parts.join(", "))
    };
    let summary: Vec<String> = kinds.iter().map(line).collect();
    let golden = include_str!("summary.txt").trim_end();
    assert!(summary.join("\n") == golden, "{}", summary.join("\n"));
}

#[test]
fn what_a_file_lacks_is_in_no_wait() {
    let needs: [(&str, &[Part]); 6] = [
        ("sys_exit", &[Part::Api, Part::Ret]),
        ("hrtimer_expire_entry", &[Part::Slack, Part::Irq, Part::Irqbody, Part::Wake]),
        ("local_timer_entry", &[Part::Irqbody]),
        ("sched_waking", &[Part::Wake, Part::Ipi]),
        ("sched_wakeup", &[Part::Ipi, Part::Runq]),
        ("hrtimer_start", &[Part::Api, Part::Slack, Part::Irq, Part::Irqbody, Part::Wake, Part::Ipi]),
    ];
    for (lacks, parts) in needs {
        let (opened, all) = results(&lacking(TRACE_6, lacks));
        for part in parts {
            assert!(opened.unseen.contains(part), "{lacks}: {part:?}");
            assert!(all.iter().all(|wait| wait.parts.get(*part) == 0), "{lacks}: {part:?}");
        }
        let by_timer = |wait: &&Wait| wait.outcome == Outcome::Timer;
        assert!(all.iter().filter(by_timer).all(|wait| wait.parts.sum() == wait.lateness_ns), "{lacks}");
    }
    let refused = replay(FORMATS[0], &&lacking(TRACE_6, "sched_switch")[..]).unwrap_err();
    assert!(refused.to_string().contains("sched:sched_switch"), "{refused}");
}

/// A handler whose end isn't recorded ends with the next call or switch.
#[test]
fn the_ends_of_handlers_may_be_missing() {
    let all = waits(TRACE_6).len();
    for lacks in ["local_timer_exit", "softirq_exit"] {
        let count = waits(&lacking(TRACE_6, lacks)).len();
        assert!(count > all * 9 / 10, "{lacks}: {count} of {all}");
    }
}

#[test]
fn without_calls_and_timers_waits_for_a_cpu_remain() {
    let (meta, all) = results(&lacking(&lacking(TRACE_6, "sys_enter"), "hrtimer_start"));
    assert!(all.len() > 400, "{}", all.len());
    for wait in &all {
        assert_eq!((wait.call.as_deref(), wait.parts.runq), (Some("wake-up"), wait.lateness_ns));
    }
    assert!(!meta.unseen.contains(&Part::Runq) && meta.unseen.contains(&Part::Slack));
    assert!(all.iter().any(|wait| !wait.culprits.is_empty()));
}

#[test]
fn deleted_ranges_make_no_wait_later() {
    let latest =
        waits(TRACE_6).iter().filter(|wait| wait.outcome == Outcome::Timer).map(|wait| wait.lateness_ns).max().unwrap();
    let mut fewer = 0;
    for seed in 0..40 {
        let all = waits(&lossy(TRACE_6, seed));
        fewer += usize::from(all.len() < 861);
        let late = all.iter().find(|wait| wait.outcome == Outcome::Timer && wait.lateness_ns > latest);
        assert!(late.is_none(), "{seed}: {late:#?}");
    }
    assert_eq!(fewer, 40);
}
