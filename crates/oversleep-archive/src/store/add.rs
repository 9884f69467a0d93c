//! Adds results: one file for each day that they are from. A result that is in the archive already adds nothing.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::PathBuf;

use oversleep_record::ResultFile;

use super::folder::{self, Archive, COMPLETE, PART};
use super::turn::Turn;
use super::windows::{self, Windows};
use super::write::{GROUP_BUCKETS_MAX, Writer};
use super::{StoreError, read::Reader};
use crate::column::Column;
use crate::digits::Digits;
use crate::query::day_of;
use crate::row::{Origin, Row, rows_of};

/// The most files that are written at a time, a day each.
const OPEN_MAX: usize = 128;

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// So many rows are new.
    Rows(usize),
    /// It is in the archive already.
    Already,
    /// It is the last hour of a sampler, of which the archive has so much already.
    Overlaps {
        /// How long, in µs.
        overlap_us: i64,
    },
    /// It has no series that could be measured.
    Nothing,
}

/// Adds results to an archive. Nothing of a day is in it before [`Adding::finish`], or before there are too many days.
pub struct Adding<'a> {
    archive: &'a Archive,
    turn: Turn,
    digits: Digits,
    days: BTreeMap<String, Day>,
    /// Contents of every day, for results that don't state when they were taken.
    everywhere: Option<HashSet<i64>>,
    windows: Windows,
    files: Vec<PathBuf>,
}

/// A day that results are from.
struct Day {
    known: HashSet<(i64, i64)>,
    writer: Option<Writer>,
    /// A hash of what is new, for the file's name.
    name: u64,
}

impl<'a> Adding<'a> {
    /// Waits until no other command changes the archive, and removes what one that was killed left behind.
    ///
    /// # Errors
    /// The folder can't be used.
    pub fn begin(archive: &'a Archive, digits: Digits) -> Result<Adding<'a>, StoreError> {
        let turn = Turn::take(archive.folder())?;
        archive.remove_leftovers(&turn)?;
        Ok(Adding {
            archive,
            turn,
            digits,
            days: BTreeMap::new(),
            everywhere: None,
            windows: Windows::default(),
            files: Vec::new(),
        })
    }

    /// The random text that stands for the machine of that name in this archive.
    ///
    /// # Errors
    /// The names can't be read or written.
    pub fn source(&self, machine: &str) -> Result<String, StoreError> {
        self.turn.source(machine)
    }

    /// Adds a result.
    ///
    /// # Errors
    /// A file can't be read or written.
    pub fn add(&mut self, file: &ResultFile, origin: &Origin) -> Result<Added, StoreError> {
        let rows = rows_of(file, origin);
        if file.taken_unix_s.is_none()
            && let Some(first) = rows.first()
        {
            if self.everywhere.is_none() {
                self.everywhere = Some(contents(self.archive)?);
            }
            if !self.everywhere.get_or_insert_default().insert(first.content) {
                return Ok(Added::Already);
            }
        }
        let mut covered = Vec::new();
        if windows::is_window(file) {
            let overlap_us = self.windows.overlap_us(self.archive, &rows)?;
            if overlap_us > 0 {
                return Ok(Added::Overlaps { overlap_us });
            }
            covered = windows::covered(&rows);
        }
        let added = self.add_rows(rows)?;
        // One that is there under another name covers nothing of this machine.
        if let Added::Rows(_) = added {
            self.windows.insert(covered);
        }
        Ok(added)
    }

    /// Adds the rows of one result: they have one content and one time.
    ///
    /// # Errors
    /// A file can't be read or written.
    pub fn add_rows(&mut self, rows: Vec<Row>) -> Result<Added, StoreError> {
        let Some(first) = rows.first() else { return Ok(Added::Nothing) };
        let name = day_of(first.taken_us);
        if !self.days.contains_key(&name) {
            if self.days.values().filter(|day| day.writer.is_some()).count() >= OPEN_MAX {
                self.end_days()?;
            }
            let day = Day { known: known(self.archive, &name)?, writer: None, name: 0 };
            self.days.insert(name.clone(), day);
        }
        let day = self.days.get_mut(&name).expect("it was inserted");
        if !day.known.insert((first.taken_us, first.content)) {
            return Ok(Added::Already);
        }
        // Any order of the same results gives the same name.
        day.name =
            day.name.wrapping_add(first.content.cast_unsigned() ^ first.taken_us.cast_unsigned().rotate_left(32));
        if day.writer.is_none() {
            let folder = self.archive.day(&name);
            fs::create_dir_all(&folder).map_err(|error| StoreError::io(&folder, error))?;
            day.writer = Some(Writer::begin(&folder.join(format!("_new.{PART}")))?);
        }
        let writer = day.writer.as_mut().expect("it was made");
        let count = rows.len();
        for row in rows {
            writer.add(row.with_digits(self.digits))?;
        }
        let is_full = writer.is_full();
        if is_full {
            self.end_days()?;
        }
        self.limit_memory()?;
        Ok(Added::Rows(count))
    }

    /// Writes the rows of the day with the most, where all days together have more than a row group.
    fn limit_memory(&mut self) -> Result<(), StoreError> {
        let waiting = |day: &Day| day.writer.as_ref().map_or(0, Writer::waiting);
        if self.days.values().map(waiting).sum::<usize>() < GROUP_BUCKETS_MAX {
            return Ok(());
        }
        let most = self.days.values_mut().max_by_key(|day| day.writer.as_ref().map_or(0, Writer::waiting));
        most.and_then(|day| day.writer.as_mut()).map_or(Ok(()), Writer::flush)
    }

    /// Ends the file of each day, and gives it its name.
    fn end_days(&mut self) -> Result<(), StoreError> {
        self.turn.keep_names()?;
        for (name, day) in &mut self.days {
            let Some(writer) = day.writer.take() else { continue };
            let folder = self.archive.day(name);
            let part = writer.finish(&[])?;
            let free = (0_u64..).map(|more| folder.join(format!("{:016x}.{COMPLETE}", day.name.wrapping_add(more))));
            let path = free.into_iter().find(|path| !path.exists()).unwrap_or_else(|| folder.join("new.parquet"));
            fs::rename(&part, &path).map_err(|error| StoreError::io(&path, error))?;
            folder::sync(&folder);
            day.name = 0;
            self.files.push(path);
        }
        folder::sync(self.archive.folder());
        Ok(())
    }

    /// Ends all files. Returns them.
    ///
    /// # Errors
    /// A file can't be written.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, StoreError> {
        self.end_days()?;
        Ok(self.files)
    }
}

/// The times and contents of a day's results.
fn known(archive: &Archive, day: &str) -> Result<HashSet<(i64, i64)>, StoreError> {
    let mut known = HashSet::new();
    let columns = BTreeSet::from([Column::Content, Column::Taken]);
    for path in archive.files_of(day)?.0 {
        let read = Reader::open(&path)?.each(&columns, |row| {
            known.insert((row.taken_us, row.content));
            Ok::<(), std::convert::Infallible>(())
        })?;
        let Ok(()) = read;
    }
    Ok(known)
}

/// The contents of all results.
fn contents(archive: &Archive) -> Result<HashSet<i64>, StoreError> {
    let mut all = HashSet::new();
    for day in archive.days()? {
        all.extend(known(archive, &day)?.into_iter().map(|(_, content)| content));
    }
    Ok(all)
}
