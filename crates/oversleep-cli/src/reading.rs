//! Reads result files: by path, or `-` for standard input. There are two kinds: of measurements, and of `oversleep why`.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use oversleep_record::file::{FileError, WHY_SCHEMA};
use oversleep_record::{ResultFile, Series};
use oversleep_why::Summary;
use oversleep_why::recording::Reader;

use crate::args::Document;
use crate::exit::Failure;

/// A result of either kind.
pub enum Either {
    Measured(Box<ResultFile>),
    Why(Box<Summary>),
}

/// Bytes that are kept until the kind is known. A recording shows it at once, a result in its first field.
const KEPT_BYTES: usize = 1 << 20;

/// Reads a result of either kind, or a recording of `oversleep why`. `command` is the command line for piping a result
/// in.
pub fn either(path: &Path, command: &str) -> Result<Either, Failure> {
    let (name, mut source): (String, Box<dyn Read>) = match Document::at(path) {
        Document::Stdout => (standard_input(command)?, Box::new(io::stdin().lock())),
        Document::File(path) => {
            let name = format!("'{}'", path.display());
            match open(&path) {
                Ok(file) => (name, Box::new(file)),
                Err(error) => return Err(unusable(&name, error)),
            }
        }
    };
    let mut kept = Kept { source: &mut source, bytes: Vec::new(), is_whole: true };
    let mut head = [0; 16];
    let count = kept.read(&mut head).map_err(|error| unusable(&name, FileError::Unreadable(error)))?;
    if Reader::knows(&head[..count]) {
        let mut bytes = head[..count].to_vec();
        source.read_to_end(&mut bytes).map_err(|error| unusable(&name, FileError::Unreadable(error)))?;
        let summary = Summary::of_bytes(&bytes);
        return summary
            .map(|summary| Either::Why(Box::new(summary)))
            .map_err(|error| Failure::failed(format!("can't use {name}: {error}")));
    }
    kept.bytes.clear();
    let measured = ResultFile::read_from((&head[..count]).chain(&mut kept));
    let is_whole = kept.is_whole;
    let bytes = [&head[..count], &kept.bytes].concat();
    match measured {
        Ok(result) => Ok(Either::Measured(Box::new(result))),
        Err(FileError::OfWhy) if is_whole => match Summary::read_from(&mut bytes.chain(source)) {
            Ok(summary) => Ok(Either::Why(Box::new(summary))),
            Err(error) => Err(unusable(&name, error)),
        },
        Err(error) => Err(unusable(&name, error)),
    }
}

/// Whether a file is a result or a recording of `oversleep why`, judging by its beginning.
pub fn is_of_why(path: &Path) -> bool {
    let Document::File(path) = Document::at(path) else { return false };
    let Ok(file) = File::open(path) else { return false };
    let mut bytes = Vec::new();
    file.take(4_096).read_to_end(&mut bytes).is_ok()
        && (Reader::knows(&bytes) || String::from_utf8_lossy(&bytes).contains(WHY_SCHEMA))
}

/// A reader that keeps what it has read.
struct Kept<'a> {
    source: &'a mut dyn Read,
    bytes: Vec<u8>,
    is_whole: bool,
}

impl Read for Kept<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.is_whole &= self.bytes.len() + count <= KEPT_BYTES;
        if self.is_whole {
            self.bytes.extend_from_slice(&buffer[..count]);
        }
        Ok(count)
    }
}

/// Reads a result. `command` is the command line for piping a result in.
pub fn read(path: &Path, command: &str) -> Result<ResultFile, Failure> {
    read_reduced(path, command, |_| {})
}

/// Like [`read`], without what `reduce` removes from each series.
pub fn read_reduced(path: &Path, command: &str, reduce: fn(&mut Series)) -> Result<ResultFile, Failure> {
    let (name, read) = match Document::at(path) {
        Document::Stdout => (standard_input(command)?, ResultFile::read_reduced(io::stdin().lock(), reduce)),
        Document::File(path) => {
            (format!("'{}'", path.display()), open(&path).and_then(|file| ResultFile::read_reduced(file, reduce)))
        }
    };
    read.map_err(|error| unusable(&name, error))
}

fn standard_input(command: &str) -> Result<String, Failure> {
    if io::stdin().is_terminal() {
        return Err(Failure::usage(format!(
            "- reads a result from standard input; pipe one in, like `oversleep waits --json | oversleep {command}`"
        )));
    }
    Ok("standard input".to_owned())
}

fn unusable(name: &str, error: FileError) -> Failure {
    match error {
        FileError::Unreadable(error) => Failure::failed(format!("can't read {name}: {error}")),
        error => Failure::failed(format!("can't use {name}: {error}")),
    }
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
