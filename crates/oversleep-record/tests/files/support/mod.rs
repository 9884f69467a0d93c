//! What the tests of the file format share: where the published files are, and the golden results as Rust values.
//! Helpers only; the tests stand in the files beside this folder.
#![allow(dead_code, reason = "each test program uses its part")]

use std::path::PathBuf;

use oversleep_record::part::{Part, Parts};
use oversleep_record::series::Quantity;
use oversleep_record::shared::Reliability;
use oversleep_record::split::PartSplit;
use oversleep_record::{Depth, ResultFile};

mod everything;
mod findings;
mod observed;
mod small;

/// The golden results that are built from Rust values, by file name. A result of a real machine is only read.
pub fn built() -> Vec<(&'static str, ResultFile)> {
    vec![
        ("everything.json", everything::result()),
        ("minimal.json", small::minimal()),
        ("modelled-interrupted.json", small::modelled_interrupted()),
        ("shared-quick.json", small::shared(Depth::Quick, Reliability::Poor)),
        ("shared-thorough.json", small::shared(Depth::Thorough, Reliability::Good)),
    ]
}

/// The golden results that exist in version 1, too.
pub fn built_in_v1() -> Vec<(&'static str, ResultFile)> {
    built().into_iter().filter(|(name, _)| !name.starts_with("shared-")).collect()
}

/// The golden result with every field and variant.
pub fn everything() -> ResultFile {
    everything::result()
}

/// The smallest valid result.
pub fn minimal() -> ResultFile {
    small::minimal()
}

/// The `schema/` folder of the checkout under test.
pub fn schema_dir() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.join("../../schema")
}

/// Removes what version 2 didn't have.
pub fn of_v2(mut result: ResultFile) -> ResultFile {
    (result.observation, result.imported) = (None, None);
    result.findings.retain(|finding| finding.instance.is_none());
    result.findings.iter_mut().for_each(|finding| finding.more.clear());
    result.series.retain(|series| series.observed.is_none() && series.quantity != Quantity::Period);
    result.series.iter_mut().for_each(|series| (series.settled, series.company) = (None, None));
    for round in result.series.iter_mut().flat_map(|series| &mut series.rounds) {
        (round.p90, round.p99) = (None, None);
    }
    // Version 2 counted waits with an unobserved part only.
    if let Some(why) = result.series.iter_mut().find_map(|series| series.why.as_mut()) {
        let all = std::mem::replace(why, PartSplit::apart(&why.method));
        let split = |n: i64| {
            let mut parts = Parts::default();
            Part::ALL.iter().for_each(|&part| *parts.get_mut(part) = 1_000 * n);
            // It had no signals and no periods.
            let parts = Parts { requested: 0, late: 0, work: 0, fault: 0, blocked: 0, ..parts };
            Parts { api: -n, unattributed: 0, signal: 0, ..parts }
        };
        (1..=3).for_each(|n| why.record(&split(n)));
        why.unattributed_count = all.unattributed_count;
    }
    result
}

/// Removes what version 1 didn't have.
pub fn of_v1(result: ResultFile) -> ResultFile {
    let mut result = of_v2(result);
    (result.depth, result.shared) = (None, None);
    result.changes.clear();
    result.changes_beyond = 0;
    result.clocks.retain(|clock| clock.runtime.is_none());
    let is_later = |quantity| matches!(quantity, Quantity::ItemsPerSecond | Quantity::ItemLatency);
    result.series.retain(|series| series.runtime.is_none() && !is_later(series.quantity));
    result.series.iter_mut().for_each(|series| series.why = None);
    for round in result.series.iter_mut().flat_map(|series| &mut series.rounds) {
        (round.disturbance.stalled_ns, round.disturbance.suspended_ns) = (None, None);
    }
    result
}

/// Every committed golden file of a version, by name.
pub fn committed(version: &str) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(schema_dir().join("golden").join(version))
        .expect("the golden results are there")
        .map(|entry| entry.expect("they can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}
