//! The files of the first version: every later reader gives the rows that they were written with. Later versions of the
//! columns get golden files of their own, beside these.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use oversleep_archive::sql::answer;
use oversleep_archive::store::{Adding, Archive};
use oversleep_archive::{Column, Digits, Row};
use oversleep_record::Distribution;
use oversleep_record::distribution::Beyond;

use crate::support::{TAKEN_US, add, all, row, values};

/// A query that adds up every series of a wait and a request, as the golden answers are of.
const EVERY_SERIES: &str = "
WITH m AS (SELECT kernel, bucket_hi, sum(bucket_n) AS weight FROM buckets
  WHERE subject = 'nanosleep' AND request_ns = 1000000 GROUP BY kernel, bucket_hi),
w AS (SELECT kernel, bucket_hi, sum(weight) OVER (PARTITION BY kernel) AS total, sum(weight) OVER
  (PARTITION BY kernel ORDER BY bucket_hi ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS upto FROM m)
SELECT kernel, max(total) AS waits, min(CASE WHEN upto * 2 >= total THEN bucket_hi END) AS p50,
  min(CASE WHEN upto * 100 >= total * 99 THEN bucket_hi END) AS p99
FROM w GROUP BY kernel ORDER BY kernel";

const DAY_US: i64 = 86_400_000_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/columns-1")
}

/// Every row with every column, a line each, and what a query answers.
fn described(folder: &Path) -> String {
    let mut text = String::new();
    for row in all(folder) {
        let cells: Vec<String> =
            Column::ALL.iter().map(|&column| format!("{column}={:?}", row.value(column))).collect();
        writeln!(text, "{}", cells.join(" ")).unwrap();
    }
    for cells in answer(&Archive::open(folder).unwrap(), EVERY_SERIES).unwrap().rows {
        writeln!(text, "{cells:?}").unwrap();
    }
    text
}

#[test]
fn the_files_of_the_first_version_give_the_rows_they_were_written_with() {
    let expected = fs::read_to_string(folder().join("_rows.txt")).unwrap().replace("\r\n", "\n");
    let found = described(&folder());
    let differs = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert_eq!((differs, found.len()), (None, expected.len()));
    assert_eq!(found.lines().count(), 25, "twenty rows of two days, and five kernels of the query");
}

#[test]
#[ignore = "the golden files are written once and never again"]
fn writes_the_golden_files() {
    let folder = folder();
    assert!(!folder.exists(), "a reader is held against these for ever");
    let mut beyond = values(1..=100);
    beyond.set_beyond(Some(Beyond { count: 7, from: 200, max: None }));
    let mut extreme = row(17, &values([i64::MIN + 1, -1, 0, 1, i64::MAX - 1]));
    (extreme.sum, extreme.seconds) = (-0.0, f64::MAX);
    let some = (0..16).map(|number| {
        let late = values((0..40).map(|value| (value * value * 37 + number * 1_009) % 90_000 - 500));
        Row { taken_us: TAKEN_US + number % 2 * DAY_US + number, ..row(number, &late) }
    });
    let more = [
        row(16, &Distribution::of_equal(12, u64::MAX / 4)),
        extreme,
        row(18, &beyond),
        row(19, &Distribution::default()),
    ];
    let rows: Vec<Row> = some.chain(more).collect();
    add(&folder, rows[..8].to_vec());
    let archive = Archive::open(&folder).unwrap();
    let mut adding = Adding::begin(&archive, Digits::Two).unwrap();
    rows[8..].iter().for_each(|row| _ = adding.add_rows(vec![row.clone()]).unwrap());
    adding.finish().unwrap();
    // One day has a merged file beside those that it replaces, as a command leaves it that is killed then.
    let day = folder.join("day=2023-11-15");
    let kept: Vec<PathBuf> = fs::read_dir(&day).unwrap().map(|entry| entry.unwrap().path()).collect();
    let copies: Vec<Vec<u8>> = kept.iter().map(|path| fs::read(path).unwrap()).collect();
    archive.compact().unwrap();
    kept.iter().zip(copies).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    fs::remove_file(folder.join("_archive.sqlite")).unwrap();
    fs::write(folder.join("_rows.txt"), described(&folder)).unwrap();
}
