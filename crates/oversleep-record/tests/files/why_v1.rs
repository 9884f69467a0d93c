//! Results that `oversleep why` wrote as documents of their own: everything in them is read as a result of the current
//! version, and one that contradicts itself is refused. Their golden file is never written again.

use std::collections::BTreeMap;

use oversleep_record::Identity;
use oversleep_record::environment::Os;
use oversleep_record::file::{FileError, ResultFile, SCHEMA, WHY_SCHEMA};
use oversleep_record::label;
use oversleep_record::observed::wait::{Outcome, Request, Wait};
use oversleep_record::observed::{Blame, By, IrqBlame, Losses, Named};
use oversleep_record::part::Part;
use oversleep_record::{Distribution, FactName, Nanos, Series};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::support;

fn golden() -> Vec<u8> {
    std::fs::read(support::schema_dir().join("golden/why-v1/everything.json")).expect("it is committed")
}

fn document() -> Value {
    serde_json::from_slice(&golden()).unwrap()
}

fn read(document: &Value) -> Result<ResultFile, FileError> {
    ResultFile::read(document.to_string().as_bytes())
}

/// What a field of the document is, as this version has it.
fn stated<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"))
}

#[test]
fn everything_in_it_is_in_the_result() {
    let (old, file) = (document(), ResultFile::read(&golden()).unwrap());
    assert_eq!((file.schema.as_str(), file.command.as_str()), (SCHEMA, "why"));
    assert_eq!(json!(file.tool), old["tool"]);
    let meta = &old["meta"];
    assert_eq!(
        (json!(file.platform.arch), json!(file.taken_unix_s)),
        (meta["arch"].clone(), meta["taken_unix_s"].clone())
    );
    assert!(file.platform.is(Os::Linux));
    assert_eq!(json!(file.environment.text(FactName::KernelRelease)), meta["kernel"]);
    assert_eq!(json!(file.duration_ns), old["span_ns"]);

    let seen = file.observation.as_ref().expect("a program was observed");
    assert_eq!((seen.by, &seen.processes), (stated::<By>(&meta["by"]), &stated::<Vec<Named>>(&meta["processes"])));
    assert_eq!(json!(seen.target), meta["target"]);
    assert_eq!((json!(seen.want_ns), json!(seen.left_out)), (old["want_ns"].clone(), old["left_out"].clone()));
    assert_eq!((&seen.worst, &seen.losses), (&stated::<Vec<Wait>>(&old["worst"]), &stated::<Losses>(&old["losses"])));
    assert_eq!(json!(seen.worst), old["worst"]);
    assert!(seen.unseen.is_empty() && seen.recorder.is_none());

    let groups = old["groups"].as_array().unwrap();
    assert_eq!(file.series.len(), groups.len());
    assert_eq!(groups.len(), Request::ALL.len(), "a group for each way to state a request");
    for (series, group) in file.series.iter().zip(groups) {
        of_group(series, group);
    }
}

fn of_group(series: &Series, group: &Value) {
    let key = &group["key"];
    let identity = Identity::of(series).expect("it is observed");
    assert_eq!((json!(identity.program), json!(identity.thread)), (key["program"].clone(), key["thread"].clone()));
    assert_eq!((json!(identity.call), json!(identity.timer)), (key["call"].clone(), key["timer"].clone()));
    assert_eq!(
        (json!(identity.request), json!(identity.requested_ns)),
        (key["request"].clone(), key["requested_ns"].clone())
    );
    assert_eq!(series.label(label::REQUEST), Some(stated::<Request>(&key["request"])));
    assert_eq!(series.requested_ns, Some(Nanos::from_millis(1)));

    assert_eq!(series.distribution, stated::<Distribution>(&group["lateness"]));
    assert_eq!(json!(series.counts.recorded), group["count"]);
    let split = series.why.as_ref().expect("it is split");
    assert_eq!((&split.total, split.count()), (&None, series.counts.recorded));
    assert_eq!(json!(split.attributed_count), group["attributed_count"]);
    assert_eq!(split.parts, stated::<BTreeMap<Part, Distribution>>(&group["parts"]));
    let mut sums = stated::<BTreeMap<Part, i64>>(&group["total_ns"]);
    // Its values in this document are made up to be early.
    sums.remove(&Part::Api);
    for (part, sum) in sums {
        let sums = (split.sum(part), i128::from(sum));
        // The old writer added the values up, this version has their histogram.
        assert!((sums.0 - sums.1).abs() <= sums.1.abs() / 1_000, "{}: {sums:?}", part.name());
    }

    let waits = series.observed.as_ref().expect("it is observed");
    assert_eq!(waits.otherwise, stated::<BTreeMap<Outcome, u64>>(&group["otherwise"]));
    assert_eq!(waits.called_late, stated::<Distribution>(&group["called_late"]));
    assert_eq!(waits.blames, stated::<Vec<Blame>>(&group["blames"]));
    assert_eq!(waits.irq_blames, stated::<Vec<IrqBlame>>(&group["irq_blames"]));
    assert_eq!((json!(waits.policy), json!(waits.tgid)), (group["policy"].clone(), group["tgid"].clone()));
    assert_eq!(json!(waits.slack_bound_ns), group["slack_bound_ns"]);
    assert_eq!(json!(waits.steal_count), group["steal_count"]);
}

#[test]
fn it_is_written_as_a_result_of_the_current_version() {
    let file = ResultFile::read(&golden()).unwrap();
    let written = file.write();
    assert!(written.starts_with(format!(r#"{{"schema":"{SCHEMA}""#).as_bytes()));
    assert!(ResultFile::read(&written).unwrap() == file);
    assert!(file.findings.is_empty(), "a reader works them out again");
}

#[test]
fn fields_of_later_versions_are_ignored() {
    fn add(value: &mut Value) {
        match value {
            Value::Object(members) => {
                let is_map = ["unattributed", "timer", "event"].iter().any(|name| members.contains_key(*name));
                members.values_mut().for_each(add);
                if !is_map {
                    members.insert("from_a_later_version".to_owned(), json!([1]));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(add),
            _ => {}
        }
    }
    let mut value = document();
    add(&mut value);
    assert!(read(&value).unwrap() == ResultFile::read(&golden()).unwrap());
}

#[test]
fn what_need_not_be_there_may_be_missing() {
    let mut value = document();
    let objects = [
        ("", &["want_ns", "left_out"][..]),
        ("/meta", &["kernel", "by", "target", "taken_unix_s", "processes"]),
        ("/groups/0", &["policy", "slack_bound_ns"]),
        ("/groups/0/key", &["requested_ns"]),
        ("/losses", &["missing", "is_truncated"]),
    ];
    for (place, fields) in objects {
        let object = value.pointer_mut(place).unwrap().as_object_mut().unwrap();
        fields.iter().for_each(|field| assert!(object.remove(*field).is_some(), "{place}/{field}"));
    }
    let file = read(&value).unwrap();
    let seen = file.observation.as_ref().unwrap();
    assert_eq!((seen.by, seen.target.as_str(), seen.want_ns, seen.left_out), (By::Kernel, "", None, 0));
    assert_eq!((file.taken_unix_s, file.series[0].requested_ns), (None, None));
    assert_eq!(file.environment.text(FactName::KernelRelease), None);
}

#[test]
fn windows_is_known_by_its_priorities() {
    let mut value = document();
    value["groups"][0]["policy"] = json!([64, 23]);
    let file = read(&value).unwrap();
    assert!(file.platform.is(Os::Windows) && file.series.iter().all(|series| series.clock == "qpc"));
}

#[test]
fn a_document_that_contradicts_itself_is_refused_with_what_is_wrong() {
    let error = |change: &dyn Fn(&mut Value)| {
        let mut value = document();
        change(&mut value);
        read(&value).expect_err("it is refused")
    };
    let refused = |change: &dyn Fn(&mut Value), says: &str| {
        let error = error(change);
        assert!(matches!(&error, FileError::Inconsistent(fault) if fault.contains(says)), "{says}: {error:?}");
    };
    let seven = serde_json::to_value(Distribution::of_equal(5, 7)).unwrap();
    refused(&|v| v["groups"][0]["count"] = 7.into(), "7 recorded, but its histogram holds 120");
    refused(&|v| v["groups"][0]["lateness"] = seven.clone(), "120 recorded, but its histogram holds 7");
    refused(&|v| v["groups"][0]["parts"]["runq"] = seven.clone(), "120 waits are split, but a part holds 7 values");
    refused(&|v| v["groups"][0]["attributed_count"] = 700.into(), "700 waits are split, but the split holds 120");
    refused(&|v| v["groups"][0]["steal_count"] = 121.into(), "more waits of one kind than waits");
    let late = serde_json::to_value(Distribution::of_equal(5, 121)).unwrap();
    refused(&|v| v["groups"][0]["called_late"] = late.clone(), "more waits of one kind than waits");
    refused(&|v| v["worst"][0]["parts"]["runq"] = 7.into(), "and its parts add up to");
    let twice = |v: &mut Value| {
        let first = v["groups"][0].clone();
        v["groups"].as_array_mut().unwrap().push(first);
    };
    refused(&twice, "two series have the key 'Y1/clock_nanosleep/1ms/program=app'");
    let many = |v: &mut Value| {
        let first = v["worst"][0].clone();
        v["worst"].as_array_mut().unwrap().extend(vec![first; 100]);
    };
    refused(&many, "more waits in full than any run keeps");
}

#[test]
fn another_schema_and_half_a_document_are_refused() {
    let whole = golden();
    let text = std::str::from_utf8(&whole).unwrap();
    let later = text.replacen(WHY_SCHEMA, "oversleep-why/9", 1);
    let error = ResultFile::read(later.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("written in schema 'oversleep-why/9'") && error.contains(WHY_SCHEMA), "{error}");
    let twice = text.replacen(r#""span_ns":"#, r#""span_ns":1,"span_ns":"#, 1);
    assert!(matches!(ResultFile::read(twice.as_bytes()), Err(FileError::RepeatedKey { key, .. }) if key == "span_ns"));
    for length in (0..text.trim_end().len()).step_by(997) {
        ResultFile::read(&whole[..length]).expect_err("it ends early");
    }
    let deep = [r#"{"schema":"oversleep-why/1","meta":"#, &"[".repeat(100_000)].concat();
    assert!(matches!(ResultFile::read(deep.as_bytes()), Err(FileError::Malformed(_))));
}
