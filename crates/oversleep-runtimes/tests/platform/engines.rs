//! Streaming engines: what they report of rates and latencies becomes series. A recorded stream of Hazelcast Jet 3.2.2
//! stands for one (Linux 6.18 on a KVM guest, 2026-11-23), so no Java is needed.

use std::sync::Arc;

use oversleep_measure::{Bench, Depth, Measured, Plan, Silent, StopFlag, measure};
use oversleep_record::label;
use oversleep_record::series::{Quantity, Status};
use oversleep_record::{ExperimentId, Nanos};
use oversleep_runtimes::{Cache, Surroundings, Wanted, descriptors};

use super::{Ran, run_without_head};

const RECORDED: &str = include_str!("recorded/jet-3.2.ndjson");

/// A program that answers every step with what was recorded of it.
fn recorded() -> Ran {
    let list = r#"{"type":"op","op":"flat-out","kind":"rate"}
{"type":"op","op":"paced","kind":"latency"}"#;
    let of =
        |op: &str| RECORDED.lines().find(|line| line.contains(&format!("\"op\":\"{op}\""))).expect("it is recorded");
    let (first, last) = (RECORDED.lines().next().unwrap(), RECORDED.lines().next_back().unwrap());
    run_without_head(&format!(
        "echo '{first}'\ncase $1 in\nlist) echo '{list}' ;;\nflat-out@*) echo '{}' ;;\npaced@*) echo '{}' ;;\nesac\necho '{last}'",
        of("flat-out"),
        of("paced")
    ))
}

#[test]
fn windows_become_items_per_second_and_arrivals_a_latency() {
    let ran = recorded();
    let flat_out = ran.series("R5/flat-out/1s/engine");
    assert_eq!((flat_out.quantity, flat_out.status.clone()), (Quantity::ItemsPerSecond, Status::Complete));
    assert_eq!(flat_out.requested_ns, Some(Nanos::from_secs(1)));
    let windows = flat_out.counts.recorded;
    assert_eq!(windows, 3, "one round of a quick run");
    let rate = flat_out.distribution.p50().unwrap();
    assert!((100_000..100_000_000).contains(&rate), "{rate} items/s");
    assert!(flat_out.label(label::CPU).unwrap() > Nanos::ZERO);

    let paced = ran.series("R5/paced/1ms/engine");
    assert_eq!((paced.quantity, paced.counts.recorded), (Quantity::ItemLatency, 1_000));
    let p50 = Nanos(paced.distribution.p50().unwrap());
    assert!((Nanos::from_micros(100)..Nanos::from_millis(20)).contains(&p50), "{p50}");
    assert_eq!(paced.runtime.as_ref().map(|runtime| runtime.name.as_str()), Some("jet"));
    assert!(ran.measured.series.iter().all(|series| series.experiment != ExperimentId::R2), "nothing is rounded");
}

#[test]
fn an_engine_that_reports_something_else_fails_in_one_line() {
    let head = r#"echo '{"type":"hello","proto":2,"runtime":"e","version":"1","clock":"c","now":1}'"#;
    let list = r#"if [ "$1" = list ]; then echo '{"type":"op","op":"tick","kind":"rate"}'; echo '{"type":"end","now":1}'; exit; fi"#;
    let reason = |record: &str| {
        let ran = run_without_head(&format!("{head}\n{list}\necho '{record}'"));
        match &ran.series("R5/tick/1s/engine").status {
            Status::Unavailable { reason } => reason.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let durations = r#"{"type":"s","op":"tick","requested":1000000000,"rounded":1,"n":1,"unit":"ns","t":[1],"d":[1]}"#;
    assert_eq!(reason(durations), "the probe: it reports durations of tick, not windows");
    let others = r#"{"type":"r","op":"tick","requested":5,"n":1,"unit":"ns","t":[1],"d":[1],"items":[1]}"#;
    assert_eq!(reason(others), "the probe: it reports a request of 5 ns, which was not the next one");
    let backwards = r#"{"type":"r","op":"tick","requested":1000000000,"n":1,"unit":"ns","t":[1],"d":[1],"items":[-1]}"#;
    assert!(reason(backwards).contains("fewer than no items"), "{}", reason(backwards));
}

#[test]
fn the_versions_of_jet_are_those_that_its_sources_state() {
    let jet = descriptors().iter().find(|one| one.name == "jet").expect("it has a folder");
    for library in &jet.library {
        let file = format!("{}/Engine.java", library.folder);
        let source = jet.sources.iter().find(|(name, _)| *name == file).expect("it is embedded").1;
        assert!(source.contains(&format!("VERSION = \"{}\"", library.version)), "{file}");
    }
}

/// The real ones. Run it with `cargo test -p oversleep-runtimes -- --ignored`; it takes a minute.
#[test]
#[ignore = "starts Hazelcast Jet, where Java and Jet are installed"]
fn every_jet_of_this_machine_speaks_the_protocol() {
    let platform = oversleep_native::here();
    let surroundings = Surroundings::here(&platform.id().os);
    let wanted = Wanted { names: vec!["jet".to_owned()], ..Wanted::default() };
    let mut survey = wanted.survey(&surroundings).unwrap();
    let cache = Cache::open(&surroundings);
    let plan = Plan { depth: Depth::Quick, ..Plan::default() };
    let probes = wanted.probes(&mut survey, &cache, &surroundings, &*platform, &plan, &mut |_| {}).unwrap();
    survey.missing.iter().for_each(|one| oversleep_testing::skip(format!("{}: {}", one.name, one.reason)));
    let bench = Bench::new(Arc::clone(&platform), StopFlag::new(), None).unwrap();
    let mut measured = Measured::default();
    measure(&bench, probes, None, &mut Silent, &mut measured);
    assert_eq!(measured.series.len(), survey.found.len() * 4, "flat out and paced, with two kinds of parks");
    for series in &measured.series {
        assert_eq!(series.status, Status::Complete, "{}", series.key);
        assert!(series.distribution.min() > Some(0), "{}", series.key);
    }
}
