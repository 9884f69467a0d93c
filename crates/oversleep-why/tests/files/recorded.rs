//! A stream that Linux 6.18 delivered: two threads that wait 60 times for 1 ms, on one CPU with a task of SCHED_FIFO that
//! works for 3 ms at a time, on a busy machine.

use oversleep_record::observed::culprit::Why;
use oversleep_record::observed::{Losses, ObservedWaits};
use oversleep_why::names::Names;
use oversleep_why::recording::Reader;
use oversleep_why::session::Session;
use oversleep_why::{Machine, Outcome, Wait};

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
fn what_is_not_selected_is_left_out_and_counted() {
    let counts = |only: &str| {
        let mut reader = Reader::new(FIFO).unwrap();
        let meta = reader.meta.clone();
        let mut session = Session::new(meta.arch, Names::of(&meta.processes), only.parse().ok(), None);
        session.feed(reader.by_ref()).unwrap();
        let file = session.finish(meta, Losses::default()).unwrap();
        let count: u64 = file.series.iter().map(|series| series.counts.recorded).sum();
        (count, file.observation.map(|observation| observation.left_out))
    };
    assert_eq!((counts("clock_nanosleep"), counts("futex")), ((120, Some(0)), (0, Some(120))));
}

/// The periods of a thread lie between all of its waits, and those that are late alone tell none.
#[test]
fn a_selection_leaves_the_periods_as_they_are_or_tells_none() {
    let periods = |only: &str| {
        let mut reader = Reader::new(FIFO).unwrap();
        let meta = reader.meta.clone();
        let mut session = Session::new(meta.arch, Names::of(&meta.processes), only.parse().ok(), None);
        session.feed(reader.by_ref()).unwrap();
        let file = session.finish(meta, Losses::default()).unwrap();
        let of = |waits: &ObservedWaits| waits.periods.clone();
        file.series.iter().filter_map(|series| series.observed.as_ref().and_then(of)).collect::<Vec<_>>()
    };
    let all = periods("");
    assert!(!all.is_empty() && periods("clock_nanosleep") == all);
    for by_lateness in [">1ms", ">100us clock_nanosleep", "<=1ms"] {
        assert_eq!(periods(by_lateness), [], "{by_lateness}");
    }
}

#[test]
fn a_result_so_far_has_what_was_seen_up_to_now_and_at_the_end_everything() {
    let mut reader = Reader::new(FIFO).unwrap();
    let meta = reader.meta.clone();
    let events: Vec<_> = reader.by_ref().collect();
    let mut session = Session::new(meta.arch, Names::of_recording(&meta), None, None);
    let (first, rest) = events.split_at(events.len() / 2);
    session.feed(first.iter().copied()).unwrap();
    let half = session.so_far(meta.clone(), Losses::default());
    session.feed(rest.iter().copied()).unwrap();
    let all = session.so_far(meta.clone(), Losses::default());
    let count = |file: &oversleep_record::ResultFile| -> u64 { file.series.iter().map(|of| of.counts.recorded).sum() };
    assert!(count(&half) > 20 && count(&half) < count(&all), "{} of {}", count(&half), count(&all));
    assert_eq!(all, session.finish(meta, Losses::default()).unwrap());
}
