//! Compares the published schema with the published results: it accepts what the reader accepts, refuses what the
//! reader refuses for its shape, and contains nothing that no golden result shows.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Validator;
use oversleep_record::{Environment, ExperimentId, ResultFile, Series};
use serde_json::{Value, json};

const SCHEMA: &str = "result-v3.schema.json";

/// The golden result with every field and variant.
fn everything() -> Value {
    crate::document("golden/v3/everything.json")
}

fn read(value: &Value) -> Result<ResultFile, String> {
    ResultFile::read(&serde_json::to_vec(value).unwrap()).map_err(|error| error.to_string())
}

#[test]
fn golden_results_are_valid() {
    for version in ["v1", "v2", "v3"] {
        let validator = crate::validator(&format!("result-{version}.schema.json"));
        for (name, value) in crate::golden(version) {
            crate::assert_valid(&validator, &value, &format!("{version}/{name}"));
        }
    }
}

/// Adds a field nobody knows to every object that has fixed fields.
fn with_unknown_fields(value: &mut Value, is_map: bool) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let maps = ["environment", "requested", "outcomes", "labels", "parts", "otherwise"];
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
    let mut value = everything();
    with_unknown_fields(&mut value, false);
    assert!(value["series"][0]["split"]["timer"]["from_a_later_version"].is_object(), "the test adds them");
    assert!(read(&value).expect("unknown fields are ignored") == read(&everything()).unwrap());
    assert!(crate::validator(SCHEMA).is_valid(&value));
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

/// The golden result in parts that are fast to read, since each is read a thousand times: all but the series and what was
/// observed, a series with a split, those of every status and condition, one whose tail is unknown, and observed waits.
fn parts() -> [ResultFile; 5] {
    let whole = read(&everything()).unwrap();
    let of = |series: &[Series]| ResultFile {
        series: series.to_vec(),
        clocks: Vec::new(),
        findings: Vec::new(),
        trials: Vec::new(),
        environment: Environment::default(),
        observation: None,
        ..whole.clone()
    };
    let (first, others) = whole.series.split_first().unwrap();
    let tried = others.iter().filter(|series| series.key.is_of(ExperimentId::TRIAL)).cloned().collect();
    let one = |is_wanted: fn(&Series) -> bool| {
        of(std::slice::from_ref(others.iter().find(|series| is_wanted(series)).expect("the golden result has one")))
    };
    [
        of(std::slice::from_ref(first)),
        of(&others[..3]),
        one(|series| series.beyond.is_some()),
        one(|series| series.observed.is_some()),
        ResultFile { series: tried, ..whole.clone() },
    ]
}

/// Values of other types in place of `value`. The reader also takes a list of an object's fields, so the list holds what no
/// field is.
fn other_types(value: &Value) -> Vec<Value> {
    [json!(null), json!(true), json!(1.5), json!("x"), json!([[[]]]), json!({}), json!(-1), json!(1e30)]
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
    match read(damaged) {
        Ok(_) => assert!(valid, "{what}: the reader takes it, the schema does not"),
        Err(error) => {
            let only_reader = only_the_reader_refuses(&error);
            assert!(!valid || only_reader, "{what}: only the reader refuses: {error}");
            return true;
        }
    }
    false
}

#[test]
fn the_schema_is_as_strict_as_the_reader() {
    let validator = crate::validator(SCHEMA);
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

#[test]
fn a_map_of_known_words_has_no_others() {
    let validator = crate::validator(SCHEMA);
    let [.., observed, _] = parts();
    let good: Value = serde_json::from_slice(&observed.write()).unwrap();
    for at in ["/series/0/why/parts", "/series/0/observed/otherwise"] {
        let mut other = good.clone();
        let entries = other.pointer_mut(at).and_then(Value::as_object_mut).expect("it is there");
        let (word, entry) = entries.clone().into_iter().next().expect("it has entries");
        entries.remove(&word);
        entries.insert("later".to_owned(), entry);
        assert!(judge(&validator, &other, at), "{at}");
    }
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
    words(&crate::document(SCHEMA), &mut wanted);
    assert!(wanted.len() > 150, "{} words", wanted.len());
    let golden: String = crate::golden("v3").iter().map(|(_, value)| value.to_string()).collect();
    let missing: Vec<&String> = wanted.iter().filter(|word| !golden.contains(&format!("\"{word}\""))).collect();
    assert!(
        missing.is_empty(),
        "no golden result has {missing:?}; add them in crates/oversleep-record/tests/files/support"
    );
}

#[test]
fn a_schema_of_another_version_is_not_ours() {
    let mut value = everything();
    value["schema"] = json!("oversleep-result/4");
    assert!(!crate::validator(SCHEMA).is_valid(&value) && read(&value).is_err());
}
