//! Results of observed programs for tests.

use oversleep_record::environment::Os;
use oversleep_record::finding::Verdict;
use oversleep_record::observed::culprit::Why;
use oversleep_record::observed::period::Periods;
use oversleep_record::observed::wait::Request;
use oversleep_record::observed::{Observation, SeenRuntime};
use oversleep_record::part::Parts;
use oversleep_record::testing::Sheet;

use super::*;

/// So many waits for that time, each with these parts.
pub fn waits(requested_ms: i64, count: u64, parts: Parts) -> Series {
    let (program, call) = ("app".to_owned(), "nanosleep".to_owned());
    let requested_ns = Some(Nanos::from_millis(requested_ms));
    let identity =
        Identity { thread: program.clone(), program, call, timer: None, request: Request::Span, requested_ns };
    let (mut split, mut lateness) = (PartSplit::default(), Distribution::growing());
    for _ in 0..count {
        split.record(&parts);
        lateness.record(parts.sum());
    }
    Series { why: Some(split), ..Series::observed(&identity, Os::Linux, lateness) }
}

/// The waits of a loop whose periods are so often these, and are meant to be so long.
pub fn periods(intended_ms: Option<i64>, of: &[(u64, Parts)]) -> Series {
    let mut split = PartSplit::apart("");
    let all = of.iter().flat_map(|(count, parts)| (0..*count).map(move |_| parts));
    all.for_each(|parts| split.record(parts));
    let mut series = waits(10, split.count() + 1, Parts { slack: 50_000, ..Parts::default() });
    let intended_ns = intended_ms.map(Nanos::from_millis);
    series.observed.as_mut().expect("it is observed").periods =
        Some(Periods { split, intended_ns, ..Periods::default() });
    series
}

/// So many waits for the timeout of a socket, that end so late on a tick.
pub fn waits_on_tick(requested_ms: i64, count: u64, slack: i64) -> Series {
    let series = waits(requested_ms, count, Parts { slack, ..Parts::default() });
    let own = Identity::of(&series).expect("it was observed");
    let identity = Identity { call: "recvfrom".to_owned(), request: Request::Unknown, ..own };
    Series { why: series.why, ..Series::observed(&identity, Os::Linux, series.distribution) }
}

/// So many waits of Python threads for the interpreter, each with these parts.
pub fn interpreter(count: u64, parts: Parts) -> Series {
    let made = waits(5, count, parts);
    let (program, call) = ("python3".to_owned(), "futex".to_owned());
    let requested_ns = made.requested_ns;
    let identity =
        Identity { thread: program.clone(), program, call, timer: None, request: Request::Deadline, requested_ns };
    let mut series = Series { why: made.why, ..Series::observed(&identity, Os::Linux, made.distribution) };
    let runtime = SeenRuntime { name: "python".to_owned(), waits_for_own_lock: true };
    series.observed.as_mut().unwrap().runtime = Some(runtime);
    series
}

/// A task that ran while so many waits needed a CPU, for so long in all.
pub fn blame(name: &str, prio: i32, count: u64, total_ns: u64) -> Blame {
    let (why, name) = (Why::TurnNotOver, name.to_owned());
    Blame {
        name,
        tgid: 9,
        tid: 9,
        policy: 3,
        prio,
        why,
        is_pinned: false,
        whose: Whose::Program,
        count,
        total_ns,
        max_ns: total_ns / count,
    }
}

/// The sentences of a finding that is present.
pub fn found(series: Vec<Series>, name: &str) -> Vec<String> {
    let mut file = Sheet::linux().file;
    (file.series, file.observation) = (series, Some(Observation::default()));
    let all = crate::findings(&file).into_iter();
    all.filter(|one| one.name == name && one.verdict == Verdict::Found).map(|one| one.sentence).collect()
}
