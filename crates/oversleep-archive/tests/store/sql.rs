//! SQL over an archive: exact, and nothing but reading.

use std::path::Path;

use oversleep_archive::sql::{Cell, SqlError, answer};
use oversleep_archive::store::Archive;
use oversleep_archive::{Filter, Gathering, Row, views};

use crate::support::{add, row, values};

fn ask(folder: &Path, statement: &str) -> Result<Vec<Vec<Cell>>, SqlError> {
    answer(&Archive::open(folder).unwrap(), statement).map(|table| table.rows)
}

/// Rows of two kernels, of one request.
fn filled(folder: &Path) {
    let rows = (0..40).map(|number| {
        let row = row(number * 2, &values((0..50).map(|value| (value - 5) * 37 * (number + 1))));
        Row { request_ns: Some(1_000_000), ..row }
    });
    add(folder, rows);
}

#[test]
fn the_portable_query_gives_the_figures_of_a_question() {
    let home = tempfile::tempdir().unwrap();
    filled(home.path());
    let archive = Archive::open(home.path()).unwrap();
    let filter = Filter::read("subject=nanosleep request=1ms", 0).unwrap();
    let mut gathering = Gathering::new("count p50 p99 by kernel".parse().unwrap(), filter, false);
    archive.gather(&mut gathering).unwrap().unwrap();
    let expected = gathering.finish();
    let rows = ask(home.path(), views::PORTABLE).unwrap();
    assert_eq!(rows.len(), expected.groups.len());
    for (cells, (key, merged)) in rows.iter().zip(&expected.groups) {
        let of = |quantile: f64| {
            // The upper end of the bucket, which a question limits to the largest value.
            let rank = (quantile * merged.count() as f64).ceil() as u64;
            let mut upto = 0;
            let found = merged.values.buckets().find(|(_, count)| {
                upto += count;
                upto >= rank
            });
            Cell::Integer(found.unwrap().0)
        };
        let kernel = Cell::Text(key[0].clone().unwrap());
        assert_eq!(*cells, [kernel, Cell::Integer(merged.count() as i64), of(0.5), of(0.99)]);
    }
}

#[test]
fn histograms_have_a_row_each() {
    let home = tempfile::tempdir().unwrap();
    filled(home.path());
    let count = ask(home.path(), "SELECT count(*), sum(count), min(day) FROM histograms").unwrap();
    assert_eq!(count, [[Cell::Integer(40), Cell::Integer(2_000), Cell::Text("2023-11-14".to_owned())]]);
    assert_eq!(ask(home.path(), "SELECT count(*) FROM histograms").unwrap(), [[Cell::Integer(40)]]);
    let fact = "SELECT DISTINCT json_extract(facts, '$.\"timer.slack_ns\"') FROM histograms";
    assert_eq!(ask(home.path(), fact).unwrap(), [[Cell::Text("50000".to_owned())]]);
    let joined =
        "SELECT sum(bucket_n) FROM buckets WHERE source IN (SELECT source FROM histograms WHERE disturbed = 1)";
    assert_eq!(ask(home.path(), joined).unwrap(), [[Cell::Integer(2_000)]]);
}

#[test]
fn more_sums_than_fit_in_memory_add_up_all_the_same() {
    let home = tempfile::tempdir().unwrap();
    add(home.path(), (0..2_500).map(|number| row(number, &values([number, number]))));
    let all = "SELECT sum(bucket_n), count(DISTINCT content) FROM buckets";
    assert_eq!(ask(home.path(), all).unwrap(), [[Cell::Integer(5_000), Cell::Integer(2_500)]]);
}

#[test]
fn a_statement_can_only_read() {
    let home = tempfile::tempdir().unwrap();
    filled(home.path());
    let other = home.path().join("other.sqlite");
    for statement in [
        "DELETE FROM histograms",
        "DROP TABLE buckets",
        &format!("ATTACH '{}' AS other", other.display()),
        "CREATE TABLE a (b)",
        "PRAGMA user_version = 3",
        &format!("VACUUM INTO '{}'", other.display()),
    ] {
        let error = ask(home.path(), statement).unwrap_err();
        assert!(matches!(error, SqlError::Changes), "{statement}: {error}");
    }
    assert!(!other.exists());
    let error = ask(home.path(), "SELECT kernal FROM histograms").unwrap_err().to_string();
    assert_eq!(error, "no such column: kernal");
    assert!(matches!(ask(home.path(), "nonsense"), Err(SqlError::Statement(_))));
}
