//! Recordings of one run, in each form: a program that waits in several ways, on Linux 6.18 with two CPUs. trace-cmd wrote
//! `waits.7.dat` of `waits.6.dat`; `waits.perf.data` has the same records as samples. Names of other tasks are replaced.

mod broken;
mod lacking;
mod moves;
mod others;
mod perf;
#[path = "../shared/mod.rs"]
mod shared;
mod support;
mod text;
mod times;
mod wakes;

use std::collections::BTreeMap;

use oversleep_recordings::{recognise, replay};
use oversleep_why::calls::Arch;
use oversleep_why::part::Part;
use oversleep_why::{Outcome, Wait};

use support::{
    FILES, PERF, PERF_SCRIPT, TRACE_6, TRACE_CMD, TRACEFS, lacking, named_before, piped, results, version_7, waits,
    without, zipped,
};

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
    let forms = [piped(PERF), zipped(PERF), version_7(TRACE_6)];
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

/// A trace.dat names its processor, or its kernel's tracepoints tell it; one that isn't known stays unknown.
#[test]
fn the_processor_is_stated_told_or_unknown() {
    let arch = |bytes: &[u8]| results(bytes).0.arch;
    let replaced = |from: &[u8], to: &[u8]| {
        let mut bytes = TRACE_6.to_vec();
        let place = bytes.windows(from.len()).rposition(|window| window == from).unwrap();
        bytes[place..place + to.len()].copy_from_slice(to);
        bytes
    };
    assert_eq!(arch(TRACE_6), Arch::X86_64);
    assert_eq!(arch(&replaced(b"x86_64", b"mips64")), Arch::Unknown);
    assert_eq!(arch(TRACEFS), Arch::X86_64);
    assert_eq!(arch(&without(TRACEFS, "local_timer_entry")), Arch::Unknown);
    // Without the processor, a call has no name.
    assert!(waits(&replaced(b"x86_64", b"mips64")).iter().all(|wait| wait.call.is_none()));
}

/// perf notes names before its events begin, and the clock runs meanwhile.
#[test]
fn a_recording_lasts_from_its_first_event_on() {
    let duration = |bytes: &[u8]| replay(recognise(bytes).unwrap(), &bytes).unwrap().duration_ns;
    assert_eq!(duration(&named_before(PERF)), duration(PERF));
}

#[test]
fn what_a_file_can_t_tell_exactly_is_stated() {
    let told = |bytes: &[u8]| {
        let meta = results(bytes).0;
        (meta.lacks_processes, meta.resolution_ns.map(|unit| unit.0))
    };
    let files = [TRACE_6, PERF, TRACEFS, TRACE_CMD, PERF_SCRIPT].map(told);
    assert_eq!(files, [(true, None), (false, None), (false, Some(1_000)), (true, None), (true, None)]);
}
