//! No text written by a user gets into a shared result, and everything that oversleep knows is kept.

use oversleep_explain as explain;
use oversleep_measure::{Depth, Plan, Silent, StopFlag};
use oversleep_record::file::Completion;
use oversleep_record::shared::Reliability;
use oversleep_record::testing::Sheet;
use oversleep_record::{CommandName, FactName, ResultFile};
use serde_json::Value;

use super::share;
use crate::machines;
use crate::session::Request;

/// A result in which every field is filled and every variant occurs.
const EVERYTHING: &[u8] = include_bytes!("../../../../schema/golden/v2/everything.json");

/// A name of a person or a host, and ways in which it could hide in what is kept.
const MARKER: &str = "qzmarker";
const HIDDEN: [&str; 12] = [
    "qzmarker",
    "/home/qzmarker/.config",
    "6.8.0-45-qzmarker",
    "AMD EPYC qzmarker 7763",
    "isolcpus=qzmarker",
    "windows-11 with facts.os.name=qzmarker",
    "windows-11 with tick=qzmarker",
    "B5/nanosleep/1ms/slack=qzmarker",
    "B5/qzmarker/1ms",
    "qzmarker:3",
    "0.1.0-qzmarker",
    "1ms+qzmarker",
];

/// Objects whose keys are names. The keys of others are fields, and unknown fields are ignored.
const MAPS: [&str; 4] = ["environment", "requested", "outcomes", "labels"];

/// Every text and every name in a document with its path: keys and indices, and whether the last key itself is meant.
fn texts(value: &Value, way: &mut Vec<String>, found: &mut Vec<(Vec<String>, bool)>) {
    match value {
        Value::String(_) => found.push((way.clone(), false)),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                way.push(at.to_string());
                texts(item, way, found);
                way.pop();
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let is_map = way.last().is_some_and(|last| MAPS.contains(&last.as_str()));
                way.push(name.clone());
                if is_map {
                    found.push((way.clone(), true));
                }
                texts(member, way, found);
                way.pop();
            }
        }
        _ => {}
    }
}

/// The document with that text, or that key, replaced.
fn seeded(document: &Value, way: &[String], is_key: bool, text: &str) -> Value {
    let mut seeded = document.clone();
    let (last, before) = way.split_last().expect("the root is no text");
    let at = before.iter().fold(&mut seeded, |at, step| match at {
        Value::Array(items) => &mut items[step.parse::<usize>().expect("a place")],
        at => &mut at[step.as_str()],
    });
    match (at, is_key) {
        (Value::Object(members), true) => {
            let member = members.remove(last).expect("it is there");
            members.insert(text.to_owned(), member);
        }
        (Value::Array(items), _) => items[last.parse::<usize>().expect("a place")] = text.into(),
        (at, _) => at[last.as_str()] = text.into(),
    }
    seeded
}

fn read(document: &Value) -> Option<ResultFile> {
    ResultFile::read(&serde_json::to_vec(document).expect("it is JSON")).ok()
}

#[test]
fn no_text_and_no_key_of_a_result_carries_a_name_into_the_shared_one() {
    let mut document: Value = serde_json::from_slice(EVERYTHING).expect("it is JSON");
    for series in document["series"].as_array_mut().expect("a list") {
        // Only numbers, which take time to read.
        series.as_object_mut().expect("an object").retain(|name, _| name != "samples" && name != "rounds");
    }
    let mut places = Vec::new();
    texts(&document, &mut Vec::new(), &mut places);
    let (mut seeds, mut read_count) = (0, 0);
    let facts = |way: &[String]| way.first().is_some_and(|first| first == "environment" || first == "platform");
    for (at, (way, is_key)) in places.iter().enumerate() {
        // Places of one kind follow one another, so each kind gets all of the hidden texts.
        let all = if facts(way) { HIDDEN.len() } else { 2 };
        for hidden in (0..all).map(|next| HIDDEN[(2 * at + next) % HIDDEN.len()]) {
            seeds += 1;
            let Some(result) = read(&seeded(&document, way, *is_key, hidden)) else { continue };
            read_count += 1;
            let shared = String::from_utf8(share(&result).write()).expect("it is UTF-8");
            assert!(!shared.contains(MARKER), "{way:?} (key: {is_key}) carries '{hidden}'");
        }
    }
    assert!(read_count > 200 && read_count < seeds, "{read_count} of {seeds} seeded results can be read");
}

#[test]
fn what_tells_when_and_where_is_left_out() {
    let mut result = ResultFile::read(EVERYTHING).expect("it reads");
    result.name = Some("Ana's laptop".to_owned());
    let shared = share(&result);
    assert_eq!((shared.name.as_deref(), shared.taken_unix_s), (None, Some(1_699_920_000)), "the day alone");
    assert!(shared.clocks.iter().all(|clock| clock.example_raw.is_none()));
    assert!(shared.series.iter().all(|series| series.samples.is_empty()));
    assert!(shared.findings.is_empty(), "whoever reads it works them out");
    assert_eq!(shared.environment.text(FactName::KernelRelease), Some("6.8.0"));
    assert!(shared.environment.facts.values().all(|fact| fact.source == "left out"));
}

/// A quick check of a modelled machine.
fn check(machine: &str) -> ResultFile {
    let lab = machines::load(machine, &["tick=15ms".to_owned()], 7).or_else(|_| machines::load(machine, &[], 7));
    let lab = lab.unwrap_or_else(|error| panic!("{error}"));
    let request = Request {
        command: CommandName::Check,
        experiments: lab.experiments_of_check(Depth::Quick),
        plan: Plan { depth: Depth::Quick, ..Plan::default() },
        name: None,
        try_remedies: true,
    };
    lab.run(&request, &StopFlag::new(), &mut Silent).expect("it runs")
}

#[test]
fn a_shared_result_reads_as_any_and_says_the_same() {
    for machine in ["linux-hz250", "windows-11", "macos-14-m1"] {
        let result = check(machine);
        let shared = share(&result);
        let left_out = shared.shared.expect("it is shared").left_out;
        let keys =
            |file: &ResultFile| -> Vec<String> { file.series.iter().map(|one| one.key.as_str().to_owned()).collect() };
        assert_eq!(keys(&shared), keys(&result), "{machine}: every name is known");
        assert_eq!((left_out.series, left_out.facts), (0, 0), "{machine}");
        assert_eq!((shared.clocks.len(), shared.trials.len()), (result.clocks.len(), result.trials.len()), "{machine}");
        assert_eq!(shared.platform, result.platform);
        let verdicts = |file: &ResultFile| -> Vec<_> {
            explain::findings(file).into_iter().map(|finding| (finding.id, finding.verdict, finding.sentence)).collect()
        };
        assert_eq!(verdicts(&shared), verdicts(&result), "{machine}");
        let bytes = shared.write();
        let back = ResultFile::read(&bytes).expect("it reads back");
        assert!(back == shared, "{machine}");
        assert!(share(&shared) == shared, "{machine}: sharing it again leaves nothing more out");
        assert!(bytes.len() < 400_000 && bytes.len() < result.write().len(), "{machine}: {} bytes", bytes.len());
    }
}

#[test]
fn the_note_says_what_the_result_is_worth() {
    let of = |sheet: Sheet| share(&sheet.file).shared.expect("it is shared");
    let steady = || Sheet::linux().steady("B5/nanosleep/1ms", 60_000).steady("B5/poll/1ms", 70_000);
    let good = of(steady());
    assert_eq!((good.reliability, good.series, good.rounds_median, good.unsteady), (Reliability::Good, 2, 4, 0));
    let depth = |depth| {
        let mut sheet = steady();
        sheet.file.depth = Some(depth);
        of(sheet).reliability
    };
    assert_eq!([Depth::Quick, Depth::Thorough].map(depth), [Reliability::Limited, Reliability::Good]);
    let mut interrupted = steady();
    interrupted.file.completion = Completion::Interrupted;
    assert_eq!(of(interrupted).reliability, Reliability::Limited);
    let wild = of(steady().wild("B5/select/1ms", 60_000));
    assert_eq!((wild.reliability, wild.unsteady), (Reliability::Poor, 1), "one of three disagrees");
    assert_eq!(of(Sheet::linux()).reliability, Reliability::Poor, "nothing was measured");
    assert_eq!(of(steady().scarce("B5/select/1ms", 1)).scarce, 1);
}
