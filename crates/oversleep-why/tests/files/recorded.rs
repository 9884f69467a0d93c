//! A stream that Linux 6.18 delivered: two threads that wait 60 times for 1 ms, on one CPU with a task of SCHED_FIFO that
//! works for 3 ms at a time, on a busy machine.

use oversleep_why::culprit::Why;
use oversleep_why::names::Names;
use oversleep_why::recording::Reader;
use oversleep_why::session::Session;
use oversleep_why::summary::Losses;
use oversleep_why::{Builder, Machine, Outcome, Wait, text};

static FIFO: &[u8] = include_bytes!("../recorded/fifo.why");

fn waits() -> (Machine, Vec<Wait>) {
    let reader = Reader::new(FIFO).unwrap();
    let mut machine = Machine::new(reader.meta.arch);
    reader.for_each(|event| machine.feed(&event));
    machine.finish();
    let waits = machine.take();
    (machine, waits)
}

#[test]
fn every_wait_is_split_without_a_gap() {
    let (machine, waits) = waits();
    assert_eq!((waits.len(), machine.counts().unfinished), (120, 0));
    for wait in &waits {
        assert_eq!((wait.outcome, wait.requested_ns, wait.lost_events), (Outcome::Timer, Some(1_000_000), 0));
        assert_eq!(wait.parts.sum(), wait.lateness_ns);
        assert!(wait.is_attributed(), "{wait:#?}");
    }
}

#[test]
fn the_real_time_task_is_named_with_its_priority() {
    let (_, waits) = waits();
    let by_hog: Vec<&Wait> =
        waits.iter().filter(|wait| wait.culprits.iter().any(|culprit| culprit.name == "burst")).collect();
    assert!(by_hog.len() > 20, "{}", by_hog.len());
    for wait in by_hog {
        let hog = wait.culprits.iter().find(|culprit| culprit.name == "burst").unwrap();
        assert_eq!((hog.policy, hog.prio, hog.why, hog.is_pinned), (1, 49, Why::HigherPolicy, true));
        assert!(hog.ran_ns as i64 <= wait.parts.runq, "{wait:#?}");
    }
}

#[test]
fn the_report_says_who_and_what_helps() {
    let (machine, waits) = waits();
    let mut builder = Builder::new();
    waits.iter().for_each(|wait| builder.add(wait, "app"));
    let summary = builder.finish(Reader::new(FIFO).unwrap().meta, None, Losses::default(), &machine);
    let report = text::report(&summary);
    for words in [
        "./app: 120 waits ended by their timer",
        "app: clock_nanosleep for 1 ms waits for a CPU",
        "burst (SCHED_FIFO, priority 50, pinned to this CPU) ran meanwhile in",
        "burst is pinned to that CPU: pin this program to another one (taskset -c).",
        "more than priority 50 (chrt -f 51)",
        "its policy goes first",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
}

#[test]
fn what_is_not_selected_is_left_out_and_counted() {
    let summary = |only: &str| {
        let mut reader = Reader::new(FIFO).unwrap();
        let meta = reader.meta.clone();
        let mut session = Session::new(meta.arch, Names::of(&meta.processes), only.parse().ok(), None);
        session.feed(reader.by_ref()).unwrap();
        session.finish(meta, Losses::default()).unwrap()
    };
    let counts = |only: &str| (summary(only).count(), summary(only).left_out);
    assert_eq!((counts("clock_nanosleep"), counts("futex")), ((120, 0), (0, 120)));
}

#[test]
fn a_program_that_is_rarely_behind_its_own_deadlines_is_not_told() {
    let (machine, waits) = waits();
    let is_told = |late: usize, of: usize| {
        let mut builder = Builder::new();
        for (n, wait) in waits.iter().take(of).enumerate() {
            builder.add(&Wait { called_late_ns: if n < late { 20_000 } else { 0 }, ..wait.clone() }, "app");
        }
        let summary = builder.finish(Reader::new(FIFO).unwrap().meta, None, Losses::default(), &machine);
        summary.findings.iter().any(|finding| finding.about == "called_late")
    };
    assert!(is_told(2, 40) && is_told(1, 20), "one in twenty");
    assert!(!is_told(1, 40) && !is_told(0, 40));
}
