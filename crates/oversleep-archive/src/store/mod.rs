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
mod write;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

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
    #[error("can't use the names of machines in '{path}': {fault}")]
    Names {
        /// The file.
        path: String,
        /// Why.
        fault: String,
    },
}

impl StoreError {
    /// Whether a file is gone that was there when its folder was listed: another command merged it into another.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, StoreError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }

    fn io(path: &Path, error: io::Error) -> StoreError {
        StoreError::Io { path: path.display().to_string(), error }
    }

    fn damaged(path: &Path, fault: &dyn std::fmt::Display) -> StoreError {
        StoreError::Damaged { path: path.display().to_string(), fault: fault.to_string() }
    }
}

/// Every column.
fn all_columns() -> BTreeSet<Column> {
    Column::ALL.iter().copied().collect()
}
