//! The last hours of samplers: what two of them have in common counts once.

use std::path::Path;

use oversleep_archive::store::{Added, Adding, Archive};
use oversleep_archive::{Digits, Origin};
use oversleep_record::testing::Sheet;
use oversleep_record::{Nanos, ResultFile};

const HOUR_S: i64 = 3_600;
/// 2023-11-14, 22:13:20 UTC.
const BEGIN_S: i64 = 1_700_000_000;

/// What `serve` answers with so long after [`BEGIN_S`].
fn hour(after_s: i64) -> ResultFile {
    let mut file = Sheet::linux().steady("B5/nanosleep/1ms", 70_000 + after_s).steady("B5/nanosleep/50ms", 90_000).file;
    file.series[1].requested_ns = None;
    file.command = "serve".to_owned();
    file.taken_unix_s = Some(BEGIN_S + after_s);
    file.duration_ns = Nanos::from_millis(HOUR_S * 1_000);
    file
}

/// Adds them one after the other, in one command or in one each.
fn added(folder: &Path, files: &[(&str, ResultFile)]) -> Vec<Added> {
    let archive = Archive::open_or_make(folder).unwrap();
    let mut adding = Adding::begin(&archive, Digits::Three).unwrap();
    let add = |(machine, file): &(&str, ResultFile)| {
        let origin = Origin { source: adding.source(machine).unwrap(), taken_us: 0 };
        adding.add(file, &origin).unwrap()
    };
    let added = files.iter().map(add).collect();
    adding.finish().unwrap();
    added
}

#[test]
fn an_hour_that_overlaps_one_of_the_same_machine_adds_nothing() {
    let overlaps = |minutes: i64| Added::Overlaps { overlap_us: minutes * 60_000_000 };
    // Every half hour, over midnight; the edge of a timer; the same again; another machine.
    let files = [
        ("web-1", hour(0)),
        ("web-1", hour(HOUR_S / 2)),
        ("web-1", hour(HOUR_S)),
        ("web-1", hour(HOUR_S * 3 / 2)),
        ("web-1", hour(2 * HOUR_S - 120)),
        ("web-1", hour(HOUR_S)),
        ("web-2", hour(HOUR_S / 2)),
    ];
    let two = Added::Rows(2);
    let expected = [two, overlaps(30), two, overlaps(30), two, Added::Already, two];
    let home = tempfile::tempdir().unwrap();
    assert_eq!(added(home.path(), &files), expected, "in one command");
    let home = tempfile::tempdir().unwrap();
    let each: Vec<Added> = files.iter().flat_map(|file| added(home.path(), std::slice::from_ref(file))).collect();
    assert_eq!(each, expected, "in a command each");
    let report = Archive::open(home.path()).unwrap().check().unwrap();
    assert_eq!((report.days, report.results, report.faults.len()), (2, 4, 0));
}

#[test]
fn other_results_of_the_same_time_are_added() {
    let home = tempfile::tempdir().unwrap();
    let check = ResultFile { command: "check".to_owned(), ..hour(10) };
    let mut other_wait = hour(20);
    other_wait.series.iter_mut().for_each(|series| series.subject = "poll".to_owned());
    let mut of_all = Sheet::linux().steady("B5/nanosleep/1ms", 5).steady("A1/monotonic", 6).file;
    (of_all.taken_unix_s, of_all.duration_ns) = (Some(BEGIN_S + 30), Nanos::from_millis(1_800_000));
    let files = [("web-1", of_all), ("web-1", hour(0)), ("web-1", check), ("web-1", other_wait)];
    assert_eq!(files.map(|file| added(home.path(), &[file])[0]), [Added::Rows(2); 4]);
}

#[test]
fn an_hour_that_is_there_under_another_name_covers_nothing() {
    let home = tempfile::tempdir().unwrap();
    let files = [("web-1", hour(0)), ("web-2", hour(0)), ("web-2", hour(HOUR_S / 2))];
    assert_eq!(added(home.path(), &files), [Added::Rows(2), Added::Already, Added::Rows(2)]);
}
