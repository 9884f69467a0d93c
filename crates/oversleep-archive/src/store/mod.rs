//! An archive on disk: a folder with a folder for each day, whose Parquet files are written once and never changed.
//!
//! A file gets its name when the disk has all of it, so nobody sees half of one. Compacting writes a file that names those
//! it replaces, then removes them; readers pass over files that another one replaces, so every moment in between shows each
//! row once. `_archive.sqlite` holds the names of machines, and is what two commands take turns by.

mod add;
mod budget;
mod caught;
mod check;
mod compact;
mod folder;
mod guard;
mod read;
mod schema;
mod thrift;
mod turn;
mod values;
mod windows;
mod write;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use parquet::errors::ParquetError;

use crate::column::Column;

pub use add::{Added, Adding};
pub use check::Report;
pub use compact::Compacted;
pub(crate) use folder::read_again;
pub use folder::{Archive, DayFile};

/// What an archive can't do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refuses.
    #[error("can't use '{path}': {error}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The disk has no room for a file.
    #[error(
        "the disk has no room left for '{0}'; what the archive had before is all there. Free some space, and run the command \
         again: results that are in it already are not added twice"
    )]
    Full(String),
    /// The folder isn't an archive.
    #[error("'{0}' is no archive; `oversleep archive add` makes one")]
    NoArchive(String),
    /// The folder holds something else.
    #[error("'{0}' holds other files, so it can't become an archive; name a new folder")]
    NotEmpty(String),
    /// A file of another program.
    #[error("'{0}' was not written by `oversleep archive`; move it out of the archive")]
    Foreign(String),
    /// A damaged file.
    #[error("'{path}' is damaged: {fault}; restore it from a copy, or move it out of the archive")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong with it.
        fault: String,
    },
    /// The names of machines can't be read.
    #[error(
        "can't use the names of machines in '{path}': {fault}. Restore it from a copy. Without one, move it out of the archive: \
         no row is lost, but machines lose their names, and what you add later is of new machines"
    )]
    Names {
        /// The file.
        path: String,
        /// Why.
        fault: String,
    },
    /// Another command changes the archive.
    #[error("another command has been changing the archive of '{0}' for 10 minutes; try again when it has ended")]
    Busy(String),
    /// A name that no machine can have.
    #[error("'{}' can't be the name of a machine: it is empty, or has line breaks or control characters", .0.escape_debug())]
    NoName(String),
}

impl StoreError {
    /// Whether a file is gone that was there when its folder was listed: another command merged it into another.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, StoreError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }

    fn io(path: &Path, error: io::Error) -> StoreError {
        let path = path.display().to_string();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full(path),
            _ => StoreError::Io { path, error },
        }
    }

    /// What the library says of a file that it writes: the system's reason, where it has one.
    fn writing(path: &Path, error: ParquetError) -> StoreError {
        match error {
            ParquetError::External(source) => match source.downcast::<io::Error>() {
                Ok(error) => StoreError::io(path, *error),
                Err(error) => StoreError::io(path, io::Error::other(error)),
            },
            error => StoreError::io(path, io::Error::other(error)),
        }
    }

    fn damaged(path: &Path, fault: &dyn std::fmt::Display) -> StoreError {
        StoreError::Damaged { path: path.display().to_string(), fault: fault.to_string() }
    }
}

/// Every column.
fn all_columns() -> BTreeSet<Column> {
    Column::ALL.iter().copied().collect()
}
