//! Reads whatever can be a result, by path, or `-` for standard input.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;

use oversleep_exchange::ReadError;
use oversleep_record::file::FileError;
use oversleep_record::{ResultFile, Series};

use crate::args::Document;
use crate::exit::Failure;

/// Reads a result. `command` is the command line for piping a result in.
pub fn read(path: &Path, command: &str) -> Result<ResultFile, Failure> {
    read_reduced(path, command, |_| {})
}

/// Like [`read`], without what `reduce` removes from each series.
pub fn read_reduced(path: &Path, command: &str, reduce: fn(&mut Series)) -> Result<ResultFile, Failure> {
    match Document::at(path) {
        Document::Stdout => {
            let name = standard_input(command)?;
            oversleep_exchange::read(&mut io::stdin().lock(), reduce).map_err(|error| unusable(&name, &error))
        }
        Document::File(path) => {
            opened(&path, reduce).map_err(|error| unusable(&format!("'{}'", path.display()), &error))
        }
    }
}

/// The name of standard input, if something was piped in.
///
/// # Errors
/// A terminal, which nobody means.
pub fn standard_input(command: &str) -> Result<String, Failure> {
    if io::stdin().is_terminal() {
        return Err(Failure::usage(format!(
            "- reads a result from standard input; pipe one in, like `oversleep waits --json | oversleep {command}`"
        )));
    }
    Ok("standard input".to_owned())
}

fn opened(path: &Path, reduce: fn(&mut Series)) -> Result<ResultFile, ReadError> {
    oversleep_exchange::read(&mut File::open(path).map_err(FileError::Unreadable)?, reduce)
}

fn unusable(name: &str, error: &ReadError) -> Failure {
    let verb = if matches!(error, ReadError::Result(FileError::Unreadable(_))) { "read" } else { "use" };
    let next = match error {
        ReadError::Result(FileError::Malformed(_)) => {
            "; if it is another program's file, `oversleep export --help` names those that are read"
        }
        _ => "",
    };
    Failure::failed(format!("can't {verb} {name}: {error}{next}"))
}

/// Reads a result, a recording or another program's file.
///
/// # Errors
/// Why it can't be used.
pub fn from_file(path: &Path) -> Result<ResultFile, ReadError> {
    opened(path, |_| {})
}
