//! Damaged results: each is refused with the error for its fault, and no damage makes the reader panic.

use oversleep_record::conditions::Setting;
use oversleep_record::file::{FileError, ResultFile};
use oversleep_record::series::{Pace, Quantity, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Nanos};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support;

fn golden() -> Value {
    serde_json::from_slice(&support::everything().write()).unwrap()
}

/// The reader's error for the golden result after `damage`.
fn refusal(damage: impl FnOnce(&mut Value)) -> FileError {
    let mut value = golden();
    damage(&mut value);
    ResultFile::read(&serde_json::to_vec(&value).unwrap()).expect_err("it is damaged")
}

fn malformed(damage: impl FnOnce(&mut Value), says: &str) {
    let error = refusal(damage);
    assert!(matches!(error, FileError::Malformed(_)), "{error:?}");
    assert!(error.to_string().starts_with("not a result file: ") && error.to_string().contains(says), "{error}");
}

fn inconsistent(damage: impl FnOnce(&mut Value), says: &str) {
    let error = refusal(damage);
    assert!(matches!(&error, FileError::Inconsistent(fault) if fault.contains(says)), "{error:?}");
}

#[test]
fn what_is_missing_or_of_another_type_is_named() {
    malformed(|file| _ = file.as_object_mut().unwrap().remove("tool"), "missing field `tool`");
    malformed(|file| _ = file["series"][0].as_object_mut().unwrap().remove("quantity"), "missing field `quantity`");
    malformed(|file| file["duration_ns"] = json!("19 s"), "expected i64");
    malformed(|file| file["duration_ns"] = json!(1.5), "expected i64");
    malformed(|file| file["duration_ns"] = json!(u64::MAX), "expected i64");
    malformed(|file| file["series"][0]["unit"] = json!("fortnights"), "unknown variant `fortnights`");
    malformed(|file| file["clocks"][0]["drift"]["ppm"] = json!(null), "expected f64");
    malformed(|file| *file = json!("a result"), "invalid type: string");
}

#[test]
fn histograms_that_do_not_fit_their_figures_are_refused() {
    malformed(|file| file["series"][0]["distribution"]["count"] = json!(49), "count says 49");
    malformed(|file| file["series"][0]["distribution"]["min"] = json!(null), "min and max do not fit");
    malformed(|file| file["series"][0]["distribution"]["hdr_v2"] = json!("HISTF"), "histogram payload");
    malformed(|file| _ = file["series"][0]["distribution"].as_object_mut().unwrap().remove("mean"), "field `mean`");
}

#[test]
fn contradictions_are_refused() {
    inconsistent(|file| file["series"][1]["key"] = json!("B5/nanosleep/1ms"), "two series have the key");
    inconsistent(|file| file["series"][0]["counts"]["recorded"] = json!(1), "1 recorded, but its histogram holds 50");
    inconsistent(|file| file["series"][0]["samples"]["start_ns"] = json!([]), "0 start stamps for 40 values");
    inconsistent(|file| file["series"][0]["samples"]["missed_runs"] = json!([[39, 2]]), "missed run 39+2");
    inconsistent(|file| file["series"][0]["why"]["attributed_count"] = json!(9), "10 waits are split");
    inconsistent(|file| file["observation"]["worst"][1]["parts"]["runq"] = json!(7), "and its parts add up to");
    inconsistent(|file| file["series"][21]["observed"]["steal_count"] = json!(7), "more waits of one kind than waits");
    inconsistent(|file| file["trials"][0]["pairs"][0]["after"] = json!("gone"), "the series 'gone', which is not here");
}

#[test]
fn another_schema_is_named_before_anything_else() {
    let error = ResultFile::read(br#"{"schema":"oversleep-result/4","all":"new"}"#).unwrap_err();
    let says = "written in schema 'oversleep-result/4'; this version reads 'oversleep-result/3', 'oversleep-result/2', \
                'oversleep-result/1' and 'oversleep-why/1'";
    assert_eq!(error.to_string(), says);
    let twice = br#"{"schema":"oversleep-result/3","schema":"oversleep-result/4"}"#;
    assert!(ResultFile::read(twice).unwrap_err().to_string().contains("the key 'schema' is there twice"));
    assert!(matches!(ResultFile::read(b"{}"), Err(FileError::Malformed(_))));
    assert!(matches!(ResultFile::read(b""), Err(FileError::Empty)));
}

/// Tools may sort the fields of a document. Those before the schema may have another form than today's.
#[test]
fn another_schema_is_named_wherever_it_stands() {
    for found in ["oversleep-why/9", "oversleep-result/4"] {
        let says = ResultFile::read(format!(r#"{{"schema":"{found}"}}"#).as_bytes()).unwrap_err().to_string();
        assert!(says.starts_with(&format!("written in schema '{found}'; this version reads")), "{says}");
        for before in [r#""groups":{}"#, r#""series":{}"#, r#""environment":{"schema":1}"#, r#""tool":"\"schema\"""#] {
            for length in [1, 70_000, 1_000_000] {
                let text = format!(r#"{{{before},"notes":"{}","schema":"{found}"}}"#, "x".repeat(length));
                assert_eq!(ResultFile::read(text.as_bytes()).unwrap_err().to_string(), says, "{before}, {length}");
            }
        }
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = support::everything().write();
    let document = bytes.len() - 1;
    for length in (0..document).step_by(97).chain([document - 1]) {
        assert!(ResultFile::read(&bytes[..length]).is_err(), "the first {length} bytes are a result");
    }
    assert!(ResultFile::read(&bytes[..document]).is_ok(), "the last newline does not matter");
    assert!(ResultFile::read(&[&bytes[..], b"{}"].concat()).is_err(), "nor is one document two");
}

prop_compose! {
    fn any_series()(
        values in prop::collection::vec(-2_000_000_000_i64..5_000_000_000_000, 0..60),
        starts in any::<i64>(),
        missed in any::<[bool; 8]>(),
        cap in 0_usize..80,
        key in "[a-z/\\PC]{0,20}",
        setting in prop_oneof![
            any::<i64>().prop_map(|ns| Setting::Nanos(Nanos(ns))),
            any::<Vec<u32>>().prop_map(Setting::Cpus),
            ("\\PC{0,5}", any::<i32>()).prop_map(|(policy, priority)| Setting::Policy { policy, priority }),
        ],
        pace in prop_oneof![Just(None), Just(Some(Pace::Periodic)), Just(Some(Pace::RandomPhase))],
    ) -> Series {
        let mut series = Series {
            key: key.into(),
            pace,
            conditions: Conditions::as_found().with("any", setting),
            ..Series::new(ExperimentId::B5, "any", Quantity::Duration, Unit::Ns)
        };
        for (index, value) in values.iter().enumerate() {
            series.distribution.record(*value);
            series.samples.push(cap, starts.wrapping_add(index as i64), *value, missed[index % missed.len()]);
        }
        series.counts.recorded = values.len() as u64;
        series
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_series_comes_back(series in any_series()) {
        let file = ResultFile { series: vec![series], trials: Vec::new(), ..support::everything() };
        let read = ResultFile::read(&file.write()).unwrap();
        prop_assert!(read == file);
    }

    #[test]
    fn flipped_bytes_never_make_it_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = support::everything().write();
        for (index, byte) in flips {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(file) = ResultFile::read(&bytes) {
            prop_assert!(ResultFile::read(&file.write()).is_ok(), "what was read can be written and read");
        }
    }
}
