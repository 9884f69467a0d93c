//! Damaged and foreign files are errors, never a wrong answer or a crash.

use std::fs;
use std::path::Path;

use oversleep_archive::store::{Adding, Archive, StoreError};
use oversleep_archive::{Column, Digits, Filter, Row};

use crate::support::{add, row, values};

/// Reads everything.
fn read(folder: &Path) -> Result<u64, StoreError> {
    let archive = Archive::open(folder)?;
    let columns = Column::ALL.iter().copied().collect();
    let mut rows = 0;
    let files = archive.files(&Filter::default())?;
    let taken = archive.each(&files, &columns, |_| {
        rows += 1;
        Ok::<(), std::convert::Infallible>(())
    })?;
    let Ok(()) = taken;
    Ok(rows)
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    let files = add(home.path(), (0..3).map(|number| row(number, &values(0..40))));
    let whole = fs::read(&files[0]).unwrap();
    for length in 0..whole.len() {
        fs::write(&files[0], &whole[..length]).unwrap();
        assert!(read(home.path()).is_err(), "cut off at {length} of {}", whole.len());
    }
    fs::write(&files[0], &whole).unwrap();
    assert_eq!(read(home.path()).unwrap(), 3);
}

#[test]
fn a_file_with_a_damaged_byte_is_read_or_refused() {
    let home = tempfile::tempdir().unwrap();
    let files = add(home.path(), (0..3).map(|number| row(number, &values(0..40))));
    let whole = fs::read(&files[0]).unwrap();
    let mut refused = 0;
    for at in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        fs::write(&files[0], &damaged).unwrap();
        refused += u32::from(read(home.path()).is_err());
    }
    assert!(refused > 20, "{refused} of {}", whole.len());
}

#[test]
fn a_foreign_file_is_refused_by_name() {
    let home = tempfile::tempdir().unwrap();
    let files = add(home.path(), [row(0, &values([1]))]);
    let mut whole = fs::read(&files[0]).unwrap();
    let own = b"oversleep-archive";
    let at = whole.windows(own.len()).rposition(|part| part == own).unwrap();
    whole[at..at + own.len()].copy_from_slice(b"another program!!");
    fs::write(&files[0], &whole).unwrap();
    let error = read(home.path()).unwrap_err();
    assert!(matches!(error, StoreError::Foreign(_)), "{error}");
    assert!(error.to_string().contains("move it out of the archive"));
}

#[test]
fn a_list_of_contents_of_gigabytes_is_refused_before_it_is_read() {
    let home = tempfile::tempdir().unwrap();
    let files = add(home.path(), [row(0, &values([1]))]);
    for length in [u32::MAX, 1 << 30, 4 << 20] {
        let mut whole = fs::read(&files[0]).unwrap();
        let at = whole.len() - 8;
        whole[at..at + 4].copy_from_slice(&length.to_le_bytes());
        let copy = files[0].with_file_name("large.parquet");
        fs::write(&copy, &whole).unwrap();
        let error = read(home.path()).unwrap_err().to_string();
        assert!(error.contains("list of contents is longer"), "{error}");
        fs::remove_file(copy).unwrap();
    }
}

#[test]
fn counts_below_zero_are_an_error() {
    let counts = |change: fn(&mut Row)| {
        let home = tempfile::tempdir().unwrap();
        let mut row = row(0, &values(0..40));
        change(&mut row);
        add(home.path(), [row]);
        read(home.path()).map_err(|error| error.to_string())
    };
    assert_eq!(counts(|_| {}), Ok(1));
    for (change, fault) in [
        ((|row| row.n[3] = -5) as fn(&mut Row), "a bucket has fewer than one value"),
        (|row| row.n[3] = 0, "a bucket has fewer than one value"),
        (|row| row.count = -1, "a row counts fewer than no values"),
        (|row| row.missed = i64::MIN, "a row counts fewer than no values"),
        (|row| row.early = -1, "a row counts fewer than no values"),
    ] {
        let error = counts(change).unwrap_err();
        assert!(error.contains(fault) && error.contains("restore it from a copy"), "{error}");
    }
}

#[test]
fn rows_that_a_file_has_twice_are_a_fault() {
    let faults = |rows: Vec<Row>| {
        let home = tempfile::tempdir().unwrap();
        let archive = Archive::open_or_make(home.path()).unwrap();
        let mut adding = Adding::begin(&archive, Digits::Three).unwrap();
        adding.add_rows(rows).unwrap();
        adding.finish().unwrap();
        archive.check().unwrap().faults
    };
    let (long, short) = (row(0, &values(0..40)), row(0, &values([7])));
    let other = Row { request_ns: Some(2_000_000), ..short.clone() };
    assert_eq!(faults(vec![long.clone(), short.clone(), short.clone(), other]), [""; 0], "short ones, by chance");
    for rows in [vec![long.clone(), long.clone(), short.clone()], vec![short.clone(), short]] {
        let faults = faults(rows);
        assert!(faults.len() == 1 && faults[0].contains("1 result has rows more than once"), "{faults:?}");
    }
}

#[test]
fn damaged_names_come_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    add(home.path(), [row(0, &values([1]))]);
    let names = home.path().join("_archive.sqlite");
    for bytes in [vec![0x55; 8_192], b"SQLite format 3\0".iter().copied().chain([0xff; 4_096]).collect()] {
        fs::write(&names, bytes).unwrap();
        let archive = Archive::open(home.path()).unwrap();
        for error in [archive.machines().unwrap_err(), archive.check().unwrap_err()] {
            let error = error.to_string();
            assert!(error.contains("_archive.sqlite'") && error.contains("Restore it from a copy"), "{error}");
        }
    }
    fs::remove_file(&names).unwrap();
    assert_eq!(read(home.path()).unwrap(), 1, "as it says, no row is lost");
}

#[test]
fn a_name_without_letters_or_with_control_characters_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let archive = Archive::open_or_make(home.path()).unwrap();
    let adding = Adding::begin(&archive, Digits::Three).unwrap();
    for name in ["", "  ", "web\n1", "\u{1b}[31mweb", "web\0"] {
        let error = adding.source(name).unwrap_err();
        assert!(matches!(error, StoreError::NoName(_)), "{error}");
        assert!(!error.to_string().contains(char::is_control), "{error}");
    }
    assert!(adding.source("web-17 (Köln)").is_ok());
}
