//! Tests of the runtime descriptions.

use std::collections::BTreeSet;

use oversleep_measure::experiment;
use oversleep_record::probe::is_op_name;
use oversleep_system::runtime_calls::{self, Evidence, Record};
use oversleep_system::waits;

use super::*;

#[test]
fn every_runtime_is_described_and_names_calls_that_exist() {
    let mut names = BTreeSet::new();
    for one in descriptors() {
        assert!(names.insert(&one.name), "{} twice", one.name);
        assert!(!one.install.is_empty() && !one.title.is_empty() && one.version.parts > 0, "{}", one.name);
        let mut ops = BTreeSet::new();
        for op in &one.op {
            let what = format!("{} {}", one.name, op.name);
            assert!(is_op_name(&op.name) && ops.insert(&op.name), "{what}");
            for (os, wait) in &op.beneath {
                assert!(waits::of(os).iter().any(|info| info.name == wait), "{what}: {os} has no wait {wait}");
            }
            assert!(!(op.kind == OpKind::Work && op.published.is_none()), "{what}: work is done as it was published");
            assert_eq!(op.kind == OpKind::Wait, !op.beneath.is_empty(), "{what}: a wait has a call beneath it");
            if let Some(published) = &op.published {
                assert!(experiment(published.experiment).is_some(), "{what}");
            }
        }
        for variant in &one.variant {
            assert!(variant.ops.iter().all(|op| ops.contains(op)), "{} {}", one.name, variant.name);
        }
    }
    assert!(ORDER.iter().all(|name| names.iter().any(|known| known == name)), "{names:?}");
}

#[test]
fn arguments_are_filled_in_once() {
    let template = ["{exe}".to_owned(), "-o{dir}/probe".to_owned()];
    assert_eq!(filled(&template, &[("exe", "/a {dir}"), ("dir", "/b")]), ["/a {dir}", "-o/b/probe"]);
}

#[test]
fn the_version_of_tokio_is_the_one_that_is_locked() {
    let tokio = descriptors().iter().find(|one| one.name == "tokio").expect("it has a folder");
    let lock = tokio.sources.iter().find(|(name, _)| name == "Cargo.lock").expect("it is locked").1;
    let fixed = tokio.version.fixed.as_deref().expect("it is stated");
    assert!(lock.contains(&format!("name = \"tokio\"\nversion = \"{fixed}\"")), "{fixed}");
}

#[test]
fn the_call_beneath_a_wait_is_the_one_of_its_record() {
    let mut compared = 0;
    for one in descriptors() {
        for (op, (os, beneath)) in one.op.iter().flat_map(|op| op.beneath.iter().map(move |beneath| (op, beneath))) {
            let is_newest = |record: &&Record| record.evidence == Evidence::Published && record.before.is_none();
            let of_op = |record: &&Record| {
                record.family() == one.name && record.system == *os && record.names.contains(&op.name)
            };
            if let Some(record) = runtime_calls::all().iter().filter(is_newest).find(of_op) {
                assert_eq!(*beneath, record.wait, "{} {} on {os}, record {}", one.name, op.name, record.id);
                compared += 1;
            }
        }
    }
    assert!(compared > 30, "{compared}");
}
