//! Damaged and foreign files are errors, never a wrong answer or a crash.

use std::fs;
use std::path::Path;

use oversleep_archive::store::{Archive, StoreError};
use oversleep_archive::{Column, Filter};

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
