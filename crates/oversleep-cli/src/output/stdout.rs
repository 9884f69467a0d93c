//! Standard output: text with its styles where they are wanted, or one document and nothing else.

use std::io::{self, Write};

use crate::exit::Failure;

/// Text for people; styles are taken out where NO_COLOR, `--color` or the reader wants none.
pub fn text(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    done(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// A document, as it is.
pub fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    done(out.write_all(bytes).and_then(|()| out.flush()))
}

/// A JSON document of a list or a page of help.
pub fn json(value: &serde_json::Value) -> Result<(), Failure> {
    bytes(format!("{value:#}\n").as_bytes())
}

fn done(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::ReaderGone),
        Err(error) => Err(Failure::failed(format!("can't write to standard output: {error}"))),
    }
}
