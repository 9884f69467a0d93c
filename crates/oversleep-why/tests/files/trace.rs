//! A trace read back as the Trace Event Format has it: complete events (`X`) with `ts` and `dur` in µs, and names (`M`).

use std::collections::{BTreeMap, BTreeSet};

use oversleep_record::observed::Losses;
use oversleep_why::calls::Arch;
use oversleep_why::names::Names;
use oversleep_why::recording::Reader;
use oversleep_why::session::Session;
use oversleep_why::{Machine, Part};
use serde::Deserialize;

static FIFO: &[u8] = include_bytes!("../recorded/fifo.why");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trace {
    #[serde(rename = "displayTimeUnit")]
    unit: String,
    #[serde(rename = "traceEvents")]
    events: Vec<Event>,
}

#[derive(Deserialize)]
#[serde(tag = "ph", deny_unknown_fields)]
enum Event {
    X {
        name: String,
        cat: String,
        pid: u32,
        tid: u32,
        ts: f64,
        dur: f64,
        args: serde_json::Map<String, serde_json::Value>,
    },
    M {
        name: String,
        pid: u32,
        tid: u32,
        args: Name,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Name {
    name: String,
}

fn trace() -> Trace {
    let mut reader = Reader::new(FIFO).unwrap();
    let meta = reader.meta.clone();
    let mut written = Vec::new();
    let mut session = Session::new(Arch::X86_64, Names::of(&meta.processes), None, None);
    session.trace_to(&mut written).unwrap();
    session.feed(reader.by_ref()).unwrap();
    session.finish(meta, Losses::default()).unwrap();
    serde_json::from_slice(&written).expect("it has the fields of the format and no others")
}

/// A slice in nanoseconds: its begin, its end, its name.
type Slice = (i64, i64, String);

fn tracks(trace: &Trace) -> BTreeMap<u32, Vec<Slice>> {
    let ns = |us: f64| (us * 1e3).round() as i64;
    let mut tracks: BTreeMap<u32, Vec<Slice>> = BTreeMap::new();
    for event in &trace.events {
        if let Event::X { name, cat, tid, ts, dur, .. } = event {
            assert_eq!(cat, "wait");
            assert!(*ts >= 0.0 && *dur >= 0.0);
            tracks.entry(*tid).or_default().push((ns(*ts), ns(ts + dur), name.clone()));
        }
    }
    tracks
}

#[test]
fn a_slice_begins_with_its_call() {
    let mut machine = Machine::new(Arch::X86_64);
    Reader::new(FIFO).unwrap().for_each(|event| machine.feed(&event));
    machine.finish();
    let entered: BTreeSet<i64> =
        machine.take().iter().filter_map(|wait| wait.marks.entered).map(|t| t.cast_signed()).collect();
    let slices = tracks(&trace());
    let begun: BTreeSet<i64> =
        slices.values().flatten().filter(|(.., name)| name.starts_with("clock_nanosleep")).map(|(b, ..)| *b).collect();
    assert!(entered.len() > 100 && begun.is_superset(&entered), "{entered:?} {begun:?}");
}

#[test]
fn slices_of_one_track_nest() {
    let trace = trace();
    assert_eq!(trace.unit, "ns");
    let tracks = tracks(&trace);
    assert_eq!(tracks.len(), 2);
    for slices in tracks.values() {
        // As viewers do it: a slice belongs to the last one that is still open, and ends with it at the latest.
        let mut open: Vec<i64> = Vec::new();
        let mut sorted = slices.clone();
        sorted.sort_by_key(|(begin, end, _)| (*begin, std::cmp::Reverse(*end)));
        for (begin, end, name) in &sorted {
            open.retain(|until| until > begin);
            // Microseconds with a fraction are exact to a nanosecond.
            assert!(open.last().is_none_or(|until| end - until <= 1), "{name} at {begin} ends after its parent");
            open.push(*end);
        }
    }
}

#[test]
fn every_thread_is_named_before_its_first_slice_and_every_part_is_there() {
    let trace = trace();
    let mut named = BTreeSet::new();
    for event in &trace.events {
        match event {
            Event::M { name, tid, args, pid } => {
                assert!(["process_name", "thread_name"].contains(&name.as_str()) && !args.name.is_empty() && *pid != 0);
                named.insert(*tid);
            }
            Event::X { tid, pid, args, name, .. } => {
                assert!(named.contains(tid) && *pid != 0);
                let is_part = Part::ALL.iter().any(|part| part.name() == name);
                assert_eq!(args.contains_key("means"), is_part, "{name}");
            }
        }
    }
    let mut machine = Machine::new(Arch::X86_64);
    Reader::new(FIFO).unwrap().for_each(|event| machine.feed(&event));
    machine.finish();
    let waits = machine.take();
    let slices: i64 =
        tracks(&trace).values().flatten().filter(|(.., name)| name == "runq").map(|(b, e, _)| e - b).sum();
    let parts: i64 = waits.iter().map(|wait| wait.parts.runq).sum();
    assert!((slices - parts).abs() <= waits.len() as i64, "{slices} {parts}");
}
