//! Findings about observed programs.

use oversleep_record::Identity;
use oversleep_record::{Distribution, Nanos, ResultFile, Series};

use crate::support::{found, observation, recorded, renamed, report, result};

fn names(file: &ResultFile) -> Vec<String> {
    found(file).into_iter().map(|finding| finding.name).collect()
}

#[test]
fn the_report_says_who_and_what_helps() {
    let report = report(&recorded()).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "oversleep why: ./app",
        "120 waits ended by their timer · 0 for another reason",
        "app: clock_nanosleep for 1 ms waits for a CPU while burst (SCHED_FIFO, priority 50) runs on the only CPU that it may use: 117 ms in 42 waits, 3.01 ms at most",
        "burst (SCHED_FIFO, priority 50, pinned to this CPU)",
        "Let app use more than one CPU (taskset, CPUAffinity= in its unit, its cpuset), or keep burst away from that one.",
        "more than priority 50 (chrt -f 51 ./app), or burst less.",
        "its policy goes first",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
}

#[test]
fn the_stacks_of_the_worst_waits_are_shown_with_advice_if_they_end_early() {
    let with = |user: &[&str]| {
        let mut file = result("recorded-one");
        let stack = &mut observation(&mut file).worst[0].stack;
        stack.user = user.iter().map(|&frame| frame.to_owned()).collect();
        stack.kernel = vec!["do_nanosleep+0x66".to_owned()];
        report(&file)
    };
    let short = with(&["tick+0x10 (app)", "0x55d000002000"]);
    assert!(short.contains("called from: tick+0x10 (app) ← 0x55d000002000\n"), "{short}");
    assert!(
        short.contains("in the kernel: do_nanosleep+0x66\n") && short.contains("-fno-omit-frame-pointer"),
        "{short}"
    );
    let long = with(&["tick+0x10 (app)", "main+0x20 (app)", "_start+0x21 (app)"]);
    assert!(!long.contains("frame-pointer"), "{long}");
}

/// Each made-up stream has the cause that it was made for.
#[test]
fn each_cause_is_told_by_its_name() {
    for (name, finding) in [
        ("made-late-by-softirq", "late-by-softirq"),
        ("made-late-by-interrupt", "late-by-interrupt"),
        ("made-late-by-idle-cpu", "late-by-idle-cpu"),
        ("made-late", "late-by-interrupts-off"),
        ("made-plain", "late-by-slack"),
        ("made-stopped", "late-by-stop"),
        ("made-stopped-select", "late-by-stop"),
        ("made-quota", "late-by-quota"),
        ("recorded", "late-by-run-queue"),
        ("made-called-late", "late-calls"),
        ("made-timerfd", "late-by-unknown-interrupt-delay"),
        ("made-posix-timer", "late-by-unknown-interrupt-delay"),
        ("made-unseen-timer", "late-by-unseen-timer"),
        ("made-socket-timeout", "waits-not-split"),
        ("made-timer-lost", "waits-not-split"),
    ] {
        assert!(names(&result(name)).contains(&finding.to_owned()), "{name}: {:?}", names(&result(name)));
    }
}

#[test]
fn a_program_that_is_rarely_behind_its_own_deadlines_is_not_told() {
    let is_told = |late: u64, of: u64| {
        let mut file = recorded();
        let series = &mut file.series[0];
        let identity = Identity::of(series).expect("it is observed");
        let lateness = Distribution::of_equal(50_000, of);
        let mut few = Series::observed(&identity, oversleep_record::environment::Os::Linux, lateness);
        (few.why, few.observed) = (series.why.take(), series.observed.take());
        few.observed.as_mut().expect("it is observed").called_late = Distribution::of_equal(20_000, late);
        file.series = vec![few];
        names(&file).contains(&"late-calls".to_owned())
    };
    assert!(is_told(2, 40) && is_told(1, 20), "one in twenty");
    assert!(!is_told(1, 40) && !is_told(0, 40));
}

/// Deadlines that a program computes are as many requests, and what helps one of them helps all.
#[test]
fn one_cause_of_many_kinds_of_waits_is_told_once_and_names_them() {
    let with = |change: fn(&mut Identity)| {
        let mut file = recorded();
        file.series.push(renamed(&file.series[0], change));
        file
    };
    let alone = found(&recorded());
    for (file, key) in [
        (with(|identity| identity.requested_ns = Some(Nanos(990_000))), "Y1/clock_nanosleep/990us/program=app"),
        (with(|identity| identity.thread = "other".to_owned()), "Y1/clock_nanosleep/1ms/program=app/thread=other"),
    ] {
        let both = found(&file);
        assert_eq!(both.len(), alone.len(), "{both:#?}");
        for finding in both.iter().filter(|finding| finding.instance.is_some()) {
            assert!(finding.sentence.contains("another kind of waits has the same cause"), "{finding:#?}");
            assert!(finding.evidence.iter().any(|evidence| evidence.source == key), "{key}: {finding:#?}");
        }
    }
}

#[test]
fn who_shares_a_result_shares_its_findings() {
    let shared = oversleep_lab::share::share(&recorded());
    assert_eq!(names(&shared), names(&recorded()));
    assert!(found(&shared).iter().any(|finding| finding.sentence.contains("program 1")), "{:#?}", found(&shared));
}
