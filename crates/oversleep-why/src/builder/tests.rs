//! Groups that are joined and merged.

use oversleep_record::split::PartSplit;
use oversleep_record::{Distribution, Series};

use super::*;
use crate::calls::Arch;

/// A wait of a thread with so much lateness.
fn wait(n: u64, thread: u64, requested_ms: u64, late_ns: i64) -> Wait {
    let wait = serde_json::json!({
        "tgid": 7,
        "tid": 100 + thread,
        "thread": format!("w{thread}"),
        "call": "nanosleep",
        "request": "span",
        "requested_ns": requested_ms * 1_000_000,
        "deadline_ns": n * 1_000_000,
        "end_ns": n * 1_000_000,
        "lateness_ns": late_ns,
        "outcome": "timer",
        "parts": { "slack": late_ns / 2, "runq": late_ns - late_ns / 2 },
        "marks": {},
    });
    serde_json::from_value(wait).expect("it is a wait")
}

fn result(builder: Builder) -> ResultFile {
    builder.finish(Meta::of(Arch::X86_64), None, Losses::default(), &Machine::new(Arch::X86_64))
}

#[test]
fn requests_that_differ_by_less_than_matters_are_one_kind_with_their_range() {
    let rows = |request: Request, requests_ns: &[u64]| {
        let mut builder = Builder::new();
        for (n, &ns) in (0..).zip(requests_ns) {
            builder.add(&Wait { request, requested_ns: Some(ns), ..wait(n, 0, 1, 5_000) }, "app");
        }
        let row = |series: &Series| {
            let range = series.observed.as_ref().unwrap().requested_ns.map(|range| range.map(|ns| ns.0));
            (series.requested_ns.unwrap().0, series.counts.recorded, range)
        };
        result(builder).series.iter().map(row).collect::<Vec<_>>()
    };
    let parks = [810, 770, 830, 1_400, 44_000];
    assert_eq!(rows(Request::Deadline, &parks), [(810, 5, Some([770, 44_000]))], "within the usual slack");
    let loops = [2_000_000, 1_600_000, 1_990_000, 1_000_000];
    assert_eq!(rows(Request::Deadline, &loops), [(2_000_000, 3, Some([1_600_000, 2_000_000])), (1_000_000, 1, None)]);
    let frames = [14_100_000, 13_200_000, 14_120_000, 10_000_000];
    assert_eq!(rows(Request::Span, &frames), [(14_000_000, 3, Some([13_200_000, 14_120_000])), (10_000_000, 1, None)]);
    assert_eq!(rows(Request::Span, &[1_000, 2_000, 1_000]), [(1_000, 2, None), (2_000, 1, None)]);
    assert_eq!(rows(Request::Timer, &[1_000_000, 1_050_000]).len(), 2, "periods are what was set");
}

#[test]
fn groups_beyond_their_memory_are_merged_and_lose_no_wait() {
    let (mut small, mut large) = (Builder::new(), Builder::new());
    small.groups_bytes_max = 600_000;
    let mut random = 1_u64;
    for n in 0..20_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (thread, request) = (random >> 33 & 15, random >> 40 & 7);
        // The first thread is latest.
        let late = (random >> 45 & 0xf_ffff) as i64 * if thread == 0 { 100 } else { 1 };
        small.add(&wait(n, thread, 1 << request, late), "app");
        large.add(&wait(n, thread, 1 << request, late), "app");
        if n % 1_000 == 0 {
            let bytes: usize = small.groups.iter().map(Group::bytes).sum();
            assert!(bytes < 900_000, "{bytes} bytes after {n} waits");
        }
    }
    let (small, large) = (result(small), result(large));
    assert_eq!(large.series.len(), 128);
    assert!(small.series.len() < 100, "{}", small.series.len());
    let all = |result: &ResultFile| {
        let mut all = PartSplit::default();
        let mut lateness = Distribution::growing();
        for series in &result.series {
            all.merge(series.why.as_ref().expect("observed series have parts"));
            lateness.merge(&series.distribution);
        }
        (all, lateness)
    };
    assert_eq!(all(&small), all(&large));
    let named: Vec<String> = small.series.iter().map(|series| Identity::of(series).unwrap().to_string()).collect();
    assert!(named[..8].iter().all(|name| name.starts_with("app (w0): nanosleep for ")), "{named:?}");
    let counts: u64 = small.series.iter().flat_map(|series| &series.rounds).map(|round| round.count).sum();
    assert_eq!(counts, 20_000);
}
