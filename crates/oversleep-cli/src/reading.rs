//! Reads results: files of any version and recordings of `oversleep why`, by path, or `-` for standard input.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use oversleep_record::file::FileError;
use oversleep_record::{ResultFile, Series};
use oversleep_why::recording::Reader;
use oversleep_why::session;

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
            read_from(&mut io::stdin().lock(), reduce).map_err(|error| unusable(&name, error))
        }
        Document::File(path) => {
            let read = File::open(&path).map_err(|error| Unusable::Result(FileError::Unreadable(error)));
            let read = read.and_then(|mut file| read_from(&mut file, reduce));
            read.map_err(|error| unusable(&format!("'{}'", path.display()), error))
        }
    }
}

/// Why there is no result in a source.
enum Unusable {
    Result(FileError),
    Recording(String),
}

/// A result, or what becomes of a recording.
fn read_from(source: &mut dyn Read, reduce: fn(&mut Series)) -> Result<ResultFile, Unusable> {
    let unreadable = |error| Unusable::Result(FileError::Unreadable(error));
    let mut head = Vec::new();
    (&mut *source).take(16).read_to_end(&mut head).map_err(unreadable)?;
    if !Reader::knows(&head) {
        return ResultFile::read_reduced(head.chain(source), reduce).map_err(Unusable::Result);
    }
    source.read_to_end(&mut head).map_err(unreadable)?;
    session::replay(&head).map_err(|error| Unusable::Recording(error.to_string()))
}

fn standard_input(command: &str) -> Result<String, Failure> {
    if io::stdin().is_terminal() {
        return Err(Failure::usage(format!(
            "- reads a result from standard input; pipe one in, like `oversleep waits --json | oversleep {command}`"
        )));
    }
    Ok("standard input".to_owned())
}

fn unusable(name: &str, error: Unusable) -> Failure {
    match error {
        Unusable::Result(FileError::Unreadable(error)) => Failure::failed(format!("can't read {name}: {error}")),
        Unusable::Result(error) => Failure::failed(format!("can't use {name}: {error}")),
        Unusable::Recording(error) => Failure::failed(format!("can't use {name}: {error}")),
    }
}

/// Reads a result file.
///
/// # Errors
/// Why it can't be used.
pub fn from_file(path: &Path) -> Result<ResultFile, FileError> {
    ResultFile::read_from(File::open(path).map_err(FileError::Unreadable)?)
}
