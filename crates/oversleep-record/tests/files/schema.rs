//! Compares the published schema with the published results: it accepts what the reader accepts, refuses what the
//! reader refuses for its shape, and contains nothing that no golden result shows.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Validator;
use oversleep_record::{Environment, ExperimentId, ResultFile, Series};
use serde_json::{Value, json};

use crate::support;

fn schema_of(version: &str) -> Value {
    let text = std::fs::read(support::schema_dir().join(format!("result-{version}.schema.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn schema() -> Value {
    schema_of("v2")
}

fn validator_of(version: &str) -> Validator {
    jsonschema::draft202012::new(&schema_of(version)).expect("the schema is a JSON schema")
}

fn validator() -> Validator {
    validator_of("v2")
}

fn golden() -> Value {
    serde_json::from_slice(&support::everything().write()).unwrap()
}

fn reads(value: &Value) -> bool {
    ResultFile::read(&serde_json::to_vec(value).unwrap()).is_ok()
}

#[test]
fn golden_results_are_valid() {
    for version in ["v1", "v2"] {
        let validator = validator_of(version);
        for (name, bytes) in support::committed(version) {
            let value = serde_json::from_slice(&bytes).unwrap();
            let errors: Vec<String> =
                validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
            assert!(errors.is_empty(), "{version}/{name}: {errors:#?}");
        }
    }
}

/// Adds a field nobody knows to every object that has fixed fields.
fn with_unknown_fields(value: &mut Value, is_map: bool) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let maps = ["environment", "requested", "outcomes", "labels", "parts"];
                with_unknown_fields(member, maps.contains(&name.as_str()));
            }
            if !is_map {
                members.insert("from_a_later_version".to_owned(), json!({ "a": [1] }));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| with_unknown_fields(item, false)),
        _ => {}
    }
}

#[test]
fn fields_of_later_versions_are_ignored_everywhere() {
    let mut value = golden();
    with_unknown_fields(&mut value, false);
    assert!(value["series"][0]["split"]["timer"]["from_a_later_version"].is_object(), "the test adds them");
    let read = ResultFile::read(&serde_json::to_vec(&value).unwrap()).expect("unknown fields are ignored");
    assert!(read == support::everything());
    assert!(validator().is_valid(&value));
}

/// Pointers to every member and every item, grouped by their place in the schema: of places that differ only in an
/// index or the name of an entry, one for each of the variants there.
fn places(value: &Value, at: String, shape: String, found: &mut BTreeMap<String, String>) {
    let mut visit = |name: &str, part: &str, member: &Value| {
        let (at, shape) = (format!("{at}/{name}"), format!("{shape}/{part}"));
        found.entry(shape.clone()).or_insert_with(|| at.clone());
        places(member, at, shape, found);
    };
    match value {
        Value::Object(members) => {
            let tag: String =
                ["type", "kind", "state", "outcome"].iter().filter_map(|tag| members.get(*tag)?.as_str()).collect();
            for (name, member) in members {
                let fixed = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
                let part = if fixed { format!("{tag}.{name}") } else { "*".to_owned() };
                visit(&name.replace('~', "~0").replace('/', "~1"), &part, member);
            }
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(i, item)| visit(&i.to_string(), "*", item)),
        _ => {}
    }
}

/// The golden result in parts that are fast to read, since each is read a thousand times: all but the series, the one
/// with a split, and those of every status and condition.
fn parts() -> [ResultFile; 3] {
    let whole = support::everything();
    let of = |series: &[Series]| ResultFile {
        series: series.to_vec(),
        clocks: Vec::new(),
        findings: Vec::new(),
        trials: Vec::new(),
        environment: Environment::default(),
        ..whole.clone()
    };
    let (first, others) = whole.series.split_first().unwrap();
    let tried = others.iter().filter(|series| series.key.is_of(ExperimentId::TRIAL)).cloned().collect();
    [of(std::slice::from_ref(first)), of(&others[..3]), ResultFile { series: tried, ..whole.clone() }]
}

/// Values of other types in place of `value`.
fn other_types(value: &Value) -> Vec<Value> {
    [json!(null), json!(true), json!(1.5), json!("x"), json!([[]]), json!({}), json!(-1), json!(1e30)]
        .into_iter()
        .filter(|other| other != value)
        .collect()
}

/// Where the schema and the reader may differ: conditions between values, which a schema can't state.
fn only_the_reader_refuses(error: &str) -> bool {
    [
        "damaged result file",
        "start stamps",
        "count says",
        "min and max",
        "bucket of the histograms",
        "by the histograms it",
        "is stated, but there is no value",
        "is out of order or beyond the samples",
        "histogram payload",
        "more values than can be counted",
    ]
    .iter()
    .any(|reason| error.contains(reason))
}

/// Compares both on one damaged result. Returns whether the reader refused it.
fn judge(validator: &Validator, damaged: &Value, what: &str) -> bool {
    let valid = validator.is_valid(damaged);
    match ResultFile::read(&serde_json::to_vec(damaged).unwrap()) {
        Ok(_) => assert!(valid, "{what}: the reader takes it, the schema does not"),
        Err(error) => {
            let only_reader = only_the_reader_refuses(&error.to_string());
            assert!(!valid || only_reader, "{what}: only the reader refuses: {error}");
            return true;
        }
    }
    false
}

#[test]
fn the_schema_is_as_strict_as_the_reader() {
    let validator = validator();
    let mut refused = 0;
    for part in parts() {
        let good: Value = serde_json::from_slice(&part.write()).unwrap();
        let mut found = BTreeMap::new();
        places(&good, String::new(), String::new(), &mut found);
        for at in found.values() {
            let (parent, name) = at.rsplit_once('/').unwrap();
            let mut without = good.clone();
            if let Some(members) = without.pointer_mut(parent).and_then(Value::as_object_mut) {
                members.remove(&name.replace("~1", "/").replace("~0", "~"));
                refused += usize::from(judge(&validator, &without, &format!("without {at}")));
            }
            for other in other_types(good.pointer(at).unwrap()) {
                let mut changed = good.clone();
                let what = format!("{at} = {other}");
                *changed.pointer_mut(at).unwrap() = other;
                refused += usize::from(judge(&validator, &changed, &what));
            }
        }
    }
    assert!(refused > 1_000, "{refused} of the damaged results were refused");
}

/// All field names and fixed words of a schema.
fn words(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("const", Value::String(word)) => _ = found.insert(word.clone()),
                    ("enum", Value::Array(all)) => {
                        found.extend(all.iter().filter_map(Value::as_str).map(str::to_owned))
                    }
                    ("properties", Value::Object(fields)) => found.extend(fields.keys().cloned()),
                    _ => {}
                }
                words(member, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, found)),
        _ => {}
    }
}

#[test]
fn golden_results_show_every_field_and_every_word() {
    let mut wanted = BTreeSet::new();
    words(&schema(), &mut wanted);
    assert!(wanted.len() > 150, "{} words", wanted.len());
    let golden: String =
        support::built().iter().map(|(_, result)| String::from_utf8(result.write()).unwrap()).collect();
    let missing: Vec<&String> = wanted.iter().filter(|word| !golden.contains(&format!("\"{word}\""))).collect();
    assert!(missing.is_empty(), "no golden result has {missing:?}; add them in tests/support");
}

#[test]
fn a_schema_of_another_version_is_not_ours() {
    let mut value = golden();
    value["schema"] = json!("oversleep-result/3");
    assert!(!validator().is_valid(&value) && !reads(&value));
}
