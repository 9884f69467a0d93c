//! Merges the files of each day. A moment at which the process ends leaves every row in the archive, and none twice: the
//! merged file names those that it replaces, readers pass over these, and they are removed once the disk has it.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use super::folder::{self, Archive, COMPACTED, COMPLETE, PART};
use super::read::Reader;
use super::turn::Turn;
use super::write::{GROUPS_MAX, Writer};
use super::{StoreError, all_columns};

/// Files with more rows stay as they are: the list of contents of a merged file stays short.
const ROWS_MAX: u64 = 1 << 20;

/// What was merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Days with files that were merged.
    pub days: u64,
    /// Files before.
    pub before: u64,
    /// Files now.
    pub after: u64,
    /// Results that were in two files.
    pub twice: u64,
}

impl Archive {
    /// Removes what commands that were killed left behind: unfinished files, and files that another one replaces. Only the
    /// command whose turn it is may do that.
    pub(super) fn remove_leftovers(&self, _: &Turn) -> Result<u64, StoreError> {
        let mut removed = 0;
        for day in self.days()? {
            let replaced = self.files_of(&day)?.1;
            for path in folder::listed(&self.day(&day), PART)?.into_iter().chain(replaced) {
                fs::remove_file(&path).map_err(|error| StoreError::io(&path, error))?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Merges the files of each day.
    ///
    /// # Errors
    /// A file is damaged or can't be written; all rows are still there then.
    pub fn compact(&self) -> Result<Compacted, StoreError> {
        let turn = Turn::take(self.folder())?;
        self.remove_leftovers(&turn)?;
        let mut all = Compacted::default();
        for day in self.days()? {
            let (files, _) = self.files_of(&day)?;
            let before = files.len() as u64;
            let (mut rows, mut groups) = (0, 0);
            let mut some = Vec::new();
            let mut merged = 0;
            for path in files {
                let reader = Reader::open(&path)?;
                let (own, filled) = (reader.rows(), reader.groups());
                if own >= ROWS_MAX || filled >= GROUPS_MAX as u64 / 2 {
                    continue;
                }
                if rows + own > 2 * ROWS_MAX || groups + filled >= GROUPS_MAX as u64 {
                    merged += self.merge(&day, &std::mem::take(&mut some), &mut all.twice)?;
                    (rows, groups) = (0, 0);
                }
                (rows, groups) = (rows + own, groups + filled);
                some.push(path);
            }
            merged += self.merge(&day, &some, &mut all.twice)?;
            all.days += u64::from(merged > 0);
            all.before += before;
            all.after += before - merged;
        }
        Ok(all)
    }

    /// Merges these files. Returns how many fewer there are.
    fn merge(&self, day: &str, files: &[PathBuf], twice: &mut u64) -> Result<u64, StoreError> {
        if files.len() < 2 {
            return Ok(0);
        }
        let folder = self.day(day);
        let mut writer = Writer::begin(&folder.join(format!("_{COMPACTED}new.{PART}")))?;
        let (mut before, columns) = (HashSet::new(), all_columns());
        let (mut name, mut replaces) = (0xcbf2_9ce4_8422_2325_u64, Vec::new());
        for path in files {
            let (mut own, mut again) = (HashSet::new(), HashSet::new());
            let read = Reader::open(path)?.each(&columns, |row| {
                let result = (row.taken_us, row.content);
                if before.contains(&result) {
                    again.insert(result);
                    return Ok(());
                }
                own.insert(result);
                writer.add(row.clone())
            })?;
            read?;
            before.extend(own);
            *twice += again.len() as u64;
            replaces.push(folder::name(path));
        }
        for byte in replaces.iter().flat_map(|name| name.bytes()) {
            name = (name ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let part = writer.finish(&replaces)?;
        let path = folder.join(format!("{COMPACTED}{name:016x}.{COMPLETE}"));
        fs::rename(&part, &path).map_err(|error| StoreError::io(&path, error))?;
        folder::sync(&folder);
        for old in files {
            fs::remove_file(old).map_err(|error| StoreError::io(old, error))?;
        }
        folder::sync(&folder);
        Ok(files.len() as u64 - 1)
    }
}
