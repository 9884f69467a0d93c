//! What is added comes back.

use std::fs;

use oversleep_archive::store::{Added, Adding, Archive, StoreError};
use oversleep_archive::{Digits, Filter, Gathering, Merged, Origin, Row};
use oversleep_record::Distribution;
use oversleep_record::distribution::Beyond;
use oversleep_record::testing::Sheet;

use crate::support::{TAKEN_US, add, all, row, values};

#[test]
fn every_column_comes_back_and_what_is_not_known_stays_so() {
    let home = tempfile::tempdir().unwrap();
    let mut extreme = row(2, &values([i64::MIN + 1, -1, 0, 1, i64::MAX - 1]));
    (extreme.sum, extreme.seconds) = (-0.0, f64::MAX);
    let mut beyond = values(1..=100);
    beyond.set_beyond(Some(Beyond { count: 7, from: 200, max: None }));
    let rows = vec![
        row(0, &Distribution::default()),
        row(1, &Distribution::default()),
        extreme,
        row(3, &values([-5, -5, 70_000])),
        row(4, &Distribution::of_equal(12, u64::MAX / 4)),
        row(5, &beyond),
    ];
    add(home.path(), rows.clone());
    assert_eq!(all(home.path()), rows);
    assert_eq!(Archive::open(home.path()).unwrap().check().unwrap().faults, [""; 0]);
}

#[test]
fn many_rows_over_several_row_groups_come_back_in_small_and_large_batches() {
    let home = tempfile::tempdir().unwrap();
    let wide = values((0..30_000).map(|value| value * value));
    let rows: Vec<Row> =
        (0..120).map(|number| row(number, &wide)).chain((120..3_000).map(|n| row(n, &values([n])))).collect();
    add(home.path(), rows.clone());
    assert_eq!(all(home.path()), rows);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 24, ..Default::default() })]
    #[test]
    fn merged_rows_equal_the_distribution_in_memory(
        parts in proptest::collection::vec(
            proptest::collection::vec((proptest::prelude::any::<i64>(), 0_u32..64), 0..60),
            1..12,
        ),
    ) {
        let home = tempfile::tempdir().unwrap();
        let parts: Vec<Distribution> =
            parts.iter().map(|part| values(part.iter().map(|(value, shift)| value >> shift))).collect();
        let rows: Vec<Row> = (0..).zip(&parts).map(|(number, part)| row(number, part)).collect();
        add(home.path(), rows);
        let mut all_values = Distribution::new();
        parts.iter().for_each(|part| all_values.merge(part));
        let mut merged = Merged::new(true);
        all(home.path()).iter().for_each(|row| merged.add(row));
        proptest::prop_assert!(merged.values.buckets().eq(all_values.buckets()));
        proptest::prop_assert_eq!(merged.values.min(), all_values.min());
        proptest::prop_assert_eq!(merged.values.max(), all_values.max());
        for quantile in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
            proptest::prop_assert_eq!(merged.values.quantile(quantile), all_values.quantile(quantile));
        }
    }
}

fn result(taken_s: Option<i64>, value: i64) -> oversleep_record::ResultFile {
    let mut file = Sheet::linux().steady("B5/nanosleep/1ms", value).steady("B5/poll/1ms", value + 1).file;
    file.taken_unix_s = taken_s;
    file
}

fn added(folder: &std::path::Path, files: &[oversleep_record::ResultFile]) -> Vec<Added> {
    let archive = Archive::open_or_make(folder).unwrap();
    let mut adding = Adding::begin(&archive, Digits::Three).unwrap();
    let origin = Origin { source: adding.source("a machine").unwrap(), taken_us: TAKEN_US };
    let added = files.iter().map(|file| adding.add(file, &origin).unwrap()).collect();
    adding.finish().unwrap();
    added
}

#[test]
fn a_result_is_added_once_however_often_it_is_given() {
    let home = tempfile::tempdir().unwrap();
    let (one, other, undated) = (result(Some(1_700_000_000), 5), result(Some(1_700_100_000), 5), result(None, 9));
    let first = added(home.path(), &[one.clone(), other.clone(), one.clone(), undated.clone()]);
    assert_eq!(first, [Added::Rows(2), Added::Rows(2), Added::Already, Added::Rows(2)]);
    assert_eq!(added(home.path(), &[undated, other, one]), [Added::Already; 3]);
    let report = Archive::open(home.path()).unwrap().check().unwrap();
    assert_eq!((report.days, report.files, report.results, report.rows), (2, 2, 3, 6));
    let sources: Vec<String> = all(home.path()).into_iter().map(|row| row.source).collect();
    assert!(sources.windows(2).all(|pair| pair[0] == pair[1]), "one machine has one source: {sources:?}");
    let machines = Archive::open(home.path()).unwrap().machines().unwrap();
    assert_eq!(machines.get(&sources[0]).map(String::as_str), Some("a machine"));
    assert!(!sources[0].contains("machine"), "a source is derived from nothing");
}

#[test]
fn compacting_keeps_every_row_once_and_answers_stay_the_same() {
    let home = tempfile::tempdir().unwrap();
    for number in 0..6 {
        add(home.path(), [row(number, &values([number, -number]))]);
    }
    let before = all(home.path());
    let archive = Archive::open(home.path()).unwrap();
    let answer = || {
        let mut gathering = Gathering::new("p50 count by kernel".parse().unwrap(), Filter::default(), true);
        archive.gather(&mut gathering).unwrap().unwrap();
        gathering.finish().for_programs()
    };
    let first = answer();
    let compacted = archive.compact().unwrap();
    assert_eq!((compacted.days, compacted.before, compacted.after, compacted.twice), (1, 6, 1, 0));
    assert_eq!((all(home.path()), answer()), (before.clone(), first));
    add(home.path(), [row(9, &values([1]))]);
    assert_eq!(archive.compact().unwrap().after, 1);
    assert_eq!(archive.compact().unwrap().days, 0, "there is nothing to merge");
    assert_eq!(all(home.path()).len(), before.len() + 1);
}

#[test]
fn a_row_is_shown_once_while_a_merged_file_and_those_it_replaces_are_there() {
    let home = tempfile::tempdir().unwrap();
    for number in 0..3 {
        add(home.path(), [row(number, &values([number]))]);
    }
    let day = home.path().join("day=2023-11-14");
    let kept: Vec<_> = fs::read_dir(&day).unwrap().map(|entry| entry.unwrap().path()).collect();
    let copies: Vec<Vec<u8>> = kept.iter().map(|path| fs::read(path).unwrap()).collect();
    let archive = Archive::open(home.path()).unwrap();
    archive.compact().unwrap();
    // The command was killed before it removed these, and another one while it wrote.
    kept.iter().zip(copies).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    fs::write(day.join("_new.part"), "half").unwrap();
    assert_eq!(all(home.path()).len(), 3);
    let report = archive.check().unwrap();
    assert_eq!((report.rows, report.removed, report.faults), (3, 4, vec![]));
    assert_eq!(fs::read_dir(&day).unwrap().count(), 1);
}

#[test]
fn a_folder_with_other_files_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("photo.jpg"), "").unwrap();
    assert!(matches!(Archive::open_or_make(home.path()), Err(StoreError::NotEmpty(_))));
    assert!(matches!(Archive::open(home.path()), Err(StoreError::NoArchive(_))));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn a_day_outside_of_the_question_is_not_read() {
    let home = tempfile::tempdir().unwrap();
    let files = add(home.path(), [row(1, &values([1]))]);
    fs::write(&files[0], "no Parquet").unwrap();
    let archive = Archive::open(home.path()).unwrap();
    let gather = |filter: &str| {
        let filter = Filter::read(filter, TAKEN_US).unwrap();
        let mut gathering = Gathering::new("count".parse().unwrap(), filter, false);
        archive.gather(&mut gathering).map(|_| ())
    };
    assert!(gather("since=2023-11-15").is_ok());
    assert!(gather("since=2023-11-14").is_err());
}
