//! SQL over an archive: exact, and nothing but reading.

use std::path::Path;

use oversleep_archive::sql::{Cell, SqlError, answer};
use oversleep_archive::store::Archive;
use oversleep_archive::{Filter, Gathering, Machine, Row, views};

use crate::support::{add, row, values};

fn ask(folder: &Path, statement: &str) -> Result<Vec<Vec<Cell>>, SqlError> {
    answer(&Archive::open(folder).unwrap(), statement).map(|table| table.rows)
}

/// Rows of five kernels, of one request, as found.
fn filled(folder: &Path) {
    let rows = (0..40).map(|number| {
        let row = row(number * 2, &values((0..50).map(|value| (value - 5) * 37 * (number + 1))));
        Row { request_ns: Some(1_000_000), conditions: String::new(), runtime: None, ..row }
    });
    add(folder, rows);
}

/// Holds the portable query against a question with these tests.
fn hold(folder: &Path, query: &str, tests: &str) -> Vec<Vec<Cell>> {
    let archive = Archive::open(folder).unwrap();
    let filter = Filter::read(tests, 0).unwrap();
    let mut gathering = Gathering::new("count p50 p99 by kernel".parse().unwrap(), filter, false);
    archive.gather(&mut gathering).unwrap().unwrap();
    let mut expected = gathering.finish();
    assert_eq!(expected.by.len(), 1, "{tests} is one series: {:?}", expected.by);
    expected.groups.sort_by_key(|(key, _)| (key[0].is_none(), key.clone()));
    let rows = ask(folder, query).unwrap();
    assert_eq!(rows.len(), expected.groups.len(), "{rows:?}");
    for (cells, (key, merged)) in rows.iter().zip(&expected.groups) {
        let of = |quantile: f64| {
            // The upper end of the bucket, which a question limits to the largest value.
            let rank = (quantile * merged.count() as f64).ceil() as u64;
            let mut upto = 0;
            let found = merged.values.buckets().find(|(_, count)| {
                upto += count;
                upto >= rank
            });
            Cell::Integer(found.map_or(i64::MAX, |(highest, _)| highest))
        };
        let kernel = key[0].clone().map_or(Cell::Null, Cell::Text);
        assert_eq!(*cells, [kernel, Cell::Integer(merged.count() as i64), of(0.5), of(0.99)]);
    }
    rows
}

#[test]
fn the_portable_query_gives_the_figures_of_a_question() {
    let home = tempfile::tempdir().unwrap();
    filled(home.path());
    assert_eq!(hold(home.path(), views::PORTABLE, views::PORTABLE_WHERE).len(), 5);
}

#[test]
fn the_portable_query_adds_up_one_series_and_has_unknown_groups_last() {
    let home = tempfile::tempdir().unwrap();
    filled(home.path());
    let others = |base: Row| {
        let unknown = |row: Row| Row { machine: Machine { kernel: None, ..row.machine.clone() }, ..row };
        [
            unknown(base.clone()),
            Row { experiment: "trial".to_owned(), ..base.clone() },
            Row { quantity: "duration".to_owned(), ..base.clone() },
            Row { quantity: "wakeups_per_second".to_owned(), unit: "hz".to_owned(), ..base.clone() },
            Row { conditions: "slack=1ns".to_owned(), ..base.clone() },
            Row { request_ns: Some(2_000_000), ..base.clone() },
            Row { request_ns: None, ..base.clone() },
            Row { runtime: Some("go 1.22".to_owned()), ..base.clone() },
            Row { subject: "poll".to_owned(), ..base },
        ]
    };
    let base = Row { request_ns: Some(1_000_000), conditions: String::new(), runtime: None, ..row(0, &values([7; 9])) };
    add(home.path(), others(base).into_iter().zip(1_000..).map(|(row, content)| Row { content, ..row }));
    let rows = hold(home.path(), views::PORTABLE, views::PORTABLE_WHERE);
    assert_eq!((rows.len(), &rows[5][..2]), (6, &[Cell::Null, Cell::Integer(9)][..]));
}

#[test]
fn the_portable_query_gives_the_figures_of_a_question_on_the_golden_archive() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/columns-1");
    // All of its rows with a request are of one other series; and one kernel has more values than a percentage of them fits.
    let own = |text: &str| {
        let text = text.replace("conditions = ''", "conditions = 'slack=1ns'").replace("'as found'", "slack=1ns");
        text.replace("runtime IS NULL", "runtime = 'go 1.22'").replace("runtime=unknown", "runtime='go 1.22'")
    };
    let query = own(views::PORTABLE).replace("AND conditions", "AND kernel <> '6.1' AND conditions");
    let rows = hold(&folder, &query, &format!("{} kernel!=6.1", own(views::PORTABLE_WHERE)));
    assert_eq!(rows.len(), 4);
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
