//! Reading result files: by path, or `-` for standard input.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use oversleep_record::ResultFile;
use oversleep_record::file::FILE_BYTES_MAX;

use crate::args::Document;
use crate::exit::Failure;

/// Reads a result. `command` is the command line that a result could be piped into.
pub fn read(path: &Path, command: &str) -> Result<ResultFile, Failure> {
    let (name, bytes) = match Document::at(path) {
        Document::Stdout => {
            if io::stdin().is_terminal() {
                return Err(Failure::usage(format!(
                    "- reads a result from standard input; pipe one in, like `oversleep waits --json | oversleep {command}`"
                )));
            }
            ("standard input".to_owned(), limited(io::stdin().lock()))
        }
        Document::File(path) => (format!("'{}'", path.display()), File::open(&path).and_then(limited)),
    };
    let bytes = bytes.map_err(|error| Failure::failed(format!("can't read {name}: {error}")))?;
    if bytes.is_empty() {
        return Err(Failure::failed(format!("can't use {name}: it is empty, not a result file")));
    }
    ResultFile::read(&bytes).map_err(|error| Failure::failed(format!("can't use {name}: {error}")))
}

/// Reads one byte more than any result has, so that a device without an end is not taken for one.
fn limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
