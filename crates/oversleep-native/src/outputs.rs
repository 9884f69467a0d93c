//! System support for writing outputs on systems other than Unix.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Renames a file to a name that isn't taken.
///
/// # Errors
/// The name is taken, or the system refuses.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    crate::rename_by_link(from, to)
}

/// The identity of a file, whatever its name. Two hard links count as two files: replacing one leaves the other as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId(PathBuf);

impl FileId {
    /// The file that a path leads to; `None` if there is none yet.
    pub fn of_path(path: &Path) -> Option<FileId> {
        fs::canonicalize(path).ok().map(FileId)
    }

    /// What a stream of this process is connected to; not known here.
    pub fn of_stream<T>(_stream: &T) -> Option<FileId> {
        None
    }

    /// The regular file that a stream of this process is connected to; not known here.
    pub fn of_file_behind<T>(_stream: &T) -> Option<FileId> {
        None
    }

    /// The device that discards what is written to it, and so takes any number of outputs. No path here resolves to it.
    pub fn of_null_device() -> Option<FileId> {
        None
    }
}

/// Why nothing can be written to standard output; not known here.
pub fn why_no_stdout() -> Option<&'static str> {
    None
}

/// These systems have no sockets that look like files.
pub fn is_socket(_found: &fs::Metadata) -> bool {
    false
}

/// These systems have no files without a name.
///
/// # Errors
/// Always.
pub fn unnamed_in(_directory: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// These systems have no files without a name.
///
/// # Errors
/// Always.
pub fn give_name(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
