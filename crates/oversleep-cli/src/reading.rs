//! Reading result files: by path, or `-` for standard input.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;

use oversleep_record::file::FileError;
use oversleep_record::{ResultFile, Series};

use crate::args::Document;
use crate::exit::Failure;

/// Reads a result. `command` is the command line that a result could be piped into.
pub fn read(path: &Path, command: &str) -> Result<ResultFile, Failure> {
    read_reduced(path, command, |_| {})
}

/// As [`read`], without what `reduce` leaves out of each series.
pub fn read_reduced(path: &Path, command: &str, reduce: fn(&mut Series)) -> Result<ResultFile, Failure> {
    let (name, read) = match Document::at(path) {
        Document::Stdout => {
            if io::stdin().is_terminal() {
                return Err(Failure::usage(format!(
                    "- reads a result from standard input; pipe one in, like `oversleep waits --json | oversleep {command}`"
                )));
            }
            ("standard input".to_owned(), ResultFile::read_reduced(io::stdin().lock(), reduce))
        }
        Document::File(path) => {
            (format!("'{}'", path.display()), open(&path).and_then(|file| ResultFile::read_reduced(file, reduce)))
        }
    };
    read.map_err(|error| match error {
        FileError::Unreadable(error) => Failure::failed(format!("can't read {name}: {error}")),
        error => Failure::failed(format!("can't use {name}: {error}")),
    })
}

/// Reads a result file.
///
/// # Errors
/// Why it can't be used.
pub fn from_file(path: &Path) -> Result<ResultFile, FileError> {
    ResultFile::read_from(open(path)?)
}

fn open(path: &Path) -> Result<File, FileError> {
    File::open(path).map_err(FileError::Unreadable)
}
