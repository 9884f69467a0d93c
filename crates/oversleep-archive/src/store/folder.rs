//! The folder of an archive: which files hold its rows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::read::Reader;
use super::{StoreError, turn};
use crate::column::Column;
use crate::query::{Filter, Gathering, QueryError, Unmet, begin_of};
use crate::row::Row;

/// The beginning of a day's folder.
const DAY: &str = "day=";
/// The ending of files that are complete.
pub const COMPLETE: &str = "parquet";
/// The ending of files that are being written.
pub const PART: &str = "part";
/// The beginning of the names of compacted files, which replace others.
pub const COMPACTED: &str = "all-";

/// How often files are listed again that another command merged meanwhile.
const READ_AGAIN: usize = 3;

/// Reads an archive's files, and again where another command merged one of them into one that wasn't listed: none of what
/// was read is right then.
pub(crate) fn read_again<T, E>(is_gone: impl Fn(&E) -> bool, mut read: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for _ in 0..READ_AGAIN {
        match read() {
            Err(error) if is_gone(&error) => {}
            read => return read,
        }
    }
    read()
}

/// An archive.
#[derive(Clone, Debug)]
pub struct Archive {
    folder: PathBuf,
}

/// A file with rows of one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayFile {
    /// `2026-11-27`.
    pub day: String,
    /// The file.
    pub path: PathBuf,
}

impl Archive {
    /// Opens an archive.
    ///
    /// # Errors
    /// There is none in that folder.
    pub fn open(folder: &Path) -> Result<Archive, StoreError> {
        let is_archive = folder.join(turn::NAMES).is_file() || days(folder).is_ok_and(|days| !days.is_empty());
        if !is_archive {
            return Err(StoreError::NoArchive(folder.display().to_string()));
        }
        Ok(Archive { folder: folder.to_owned() })
    }

    /// Opens an archive, or makes one of a new or empty folder.
    ///
    /// # Errors
    /// The folder holds something else or can't be made.
    pub fn open_or_make(folder: &Path) -> Result<Archive, StoreError> {
        let io = |error| StoreError::io(folder, error);
        fs::create_dir_all(folder).map_err(io)?;
        let is_empty = fs::read_dir(folder).map_err(io)?.next().is_none();
        if is_empty {
            return Ok(Archive { folder: folder.to_owned() });
        }
        Archive::open(folder).map_err(|error| match error {
            StoreError::NoArchive(folder) => StoreError::NotEmpty(folder),
            error => error,
        })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of a day.
    pub(super) fn day(&self, day: &str) -> PathBuf {
        self.folder.join(format!("{DAY}{day}"))
    }

    /// Its days, in order: `2026-11-27`.
    ///
    /// # Errors
    /// The folder can't be read.
    pub fn days(&self) -> Result<Vec<String>, StoreError> {
        days(&self.folder)
    }

    /// The files of a day, without those that another one replaces, and then those.
    pub(super) fn files_of(&self, day: &str) -> Result<(Vec<PathBuf>, Vec<PathBuf>), StoreError> {
        let all = listed(&self.day(day), COMPLETE)?;
        let mut replaced = BTreeSet::new();
        if all.len() > 1 {
            let is_compacted = |path: &&PathBuf| name(path).starts_with(COMPACTED);
            for path in all.iter().filter(is_compacted) {
                let own = name(path);
                replaced.extend(Reader::open(path)?.replaces().into_iter().filter(|name| *name != own));
            }
        }
        Ok(all.into_iter().partition(|path| !replaced.contains(&name(path))))
    }

    /// The files with rows that a filter may take, in order.
    ///
    /// # Errors
    /// A folder can't be read, or a compacted file is damaged.
    pub fn files(&self, filter: &Filter) -> Result<Vec<DayFile>, StoreError> {
        let mut files = Vec::new();
        for day in self.days()? {
            if begin_of(&day).is_some_and(|begin| !filter.takes_day(begin)) {
                continue;
            }
            let (live, _) = self.files_of(&day)?;
            files.extend(live.into_iter().map(|path| DayFile { day: day.clone(), path }));
        }
        Ok(files)
    }

    /// The number of rows in these files, from their lists of contents.
    ///
    /// # Errors
    /// A file is damaged or another program's.
    pub fn rows(&self, files: &[DayFile]) -> Result<u64, StoreError> {
        files.iter().try_fold(0_u64, |sum, file| Ok(sum.saturating_add(Reader::open(&file.path)?.rows())))
    }

    /// Gives every row of these files to `take`, with these columns filled in. Returns what `take` failed with.
    ///
    /// # Errors
    /// A file is damaged or another program's.
    pub fn each<E>(
        &self,
        files: &[DayFile],
        columns: &BTreeSet<Column>,
        mut take: impl FnMut(&Row) -> Result<(), E>,
    ) -> Result<Result<(), E>, StoreError> {
        for file in files {
            if let Err(error) = Reader::open(&file.path)?.each(columns, &mut take)? {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    /// The values of a filter that no row of its days has. Reads until each is met: a few rows where all are there.
    ///
    /// # Errors
    /// A file is damaged or another program's.
    pub fn unmet(&self, filter: &Filter) -> Result<Unmet, StoreError> {
        let columns = filter.columns().collect();
        read_again(StoreError::is_gone, || {
            let mut unmet = filter.unmet();
            if !unmet.is_empty() {
                let _ = self.each(&self.files(filter)?, &columns, |row| {
                    unmet.look(filter, row);
                    if unmet.is_empty() { Err(()) } else { Ok(()) }
                })?;
            }
            Ok(unmet)
        })
    }

    /// Answers a question.
    ///
    /// # Errors
    /// A file is damaged, or the answer is too long.
    pub fn gather(&self, gathering: &mut Gathering) -> Result<Result<(), QueryError>, StoreError> {
        let columns = gathering.columns();
        let nothing = gathering.clone();
        read_again(StoreError::is_gone, || {
            gathering.clone_from(&nothing);
            let files = self.files(gathering.filter())?;
            self.each(&files, &columns, |row| gathering.add(row))
        })
    }

    /// The machines with their names, where they have one: source → name.
    ///
    /// # Errors
    /// The names can't be read.
    pub fn machines(&self) -> Result<BTreeMap<String, String>, StoreError> {
        turn::names(&self.folder)
    }
}

fn days(folder: &Path) -> Result<Vec<String>, StoreError> {
    let io = |error| StoreError::io(folder, error);
    let mut days = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        days.extend(entry.file_name().to_str().and_then(|name| name.strip_prefix(DAY)).map(str::to_owned));
    }
    days.sort();
    Ok(days)
}

/// The files of a folder with that ending, in order; none where there is no folder.
pub(super) fn listed(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, StoreError> {
    let io = |error| StoreError::io(folder, error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|found| found == ending) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The name of a file in its folder.
pub(super) fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Waits until the disk knows the names in a folder. Systems that can't do that for a folder order names themselves.
pub(super) fn sync(folder: &Path) {
    if let Ok(folder) = fs::File::open(folder) {
        let _ = folder.sync_all();
    }
}
