//! Standard output: text with optional styles, or one document and nothing else.

use std::io::{self, BufWriter, Write};

use oversleep_native::outputs;

use super::Contents;
use super::file::WRITE_BYTES;
use crate::exit::Failure;
use crate::safe;

/// Whether somebody still reads standard output. One that was closed silences what is written there; the result, and so the
/// exit code, stays what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Present,
    Gone,
}

/// Checks that there is a standard output that can be written.
///
/// # Errors
/// This process was started without one.
pub fn check() -> Result<(), Failure> {
    if let Some(why) = outputs::why_no_stdout() {
        let next = "redirect it to a file or /dev/null";
        return Err(Failure::failed(format!("can't write to standard output: {why}; {next}")));
    }
    Ok(())
}

/// Text for people; NO_COLOR, `--color` or a reader that is not a terminal remove its styles.
pub fn text(text: &str) -> Result<Reader, Failure> {
    check()?;
    let mut out = anstream::stdout().lock();
    done(out.write_all(safe::styled(text).as_bytes()).and_then(|()| out.flush()))
}

/// A document, unchanged.
pub fn document(contents: Contents) -> Result<Reader, Failure> {
    check()?;
    let mut out = BufWriter::with_capacity(WRITE_BYTES, io::stdout().lock());
    done(contents(&mut out).and_then(|()| out.flush()))
}

/// A JSON document, with escapes for the characters that a terminal would obey.
pub fn json_document(contents: Contents) -> Result<Reader, Failure> {
    document(&|out| {
        let mut out = BufWriter::with_capacity(WRITE_BYTES, safe::JsonWriter::new(out));
        contents(&mut out)?;
        out.flush()
    })
}

/// Whether the reader has gone. Windows reports it in several ways, and the standard library does not count
/// ERROR_PIPE_NOT_CONNECTED (the other end was closed) as a broken pipe.
/// <https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499->
fn is_reader_gone(error: &io::Error) -> bool {
    const PIPE_NOT_CONNECTED: i32 = 233;
    // No Unix has an error of that number.
    error.kind() == io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(PIPE_NOT_CONNECTED)
}

fn done(result: io::Result<()>) -> Result<Reader, Failure> {
    match result {
        Ok(()) => Ok(Reader::Present),
        Err(error) if is_reader_gone(&error) => Ok(Reader::Gone),
        Err(error) => Err(Failure::failed(format!("can't write to standard output: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_left_is_no_failure_to_write() {
        for gone in [io::Error::from(io::ErrorKind::BrokenPipe), io::Error::from_raw_os_error(233)] {
            assert_eq!(done(Err(gone)).ok(), Some(Reader::Gone));
        }
        assert!(done(Err(io::Error::from(io::ErrorKind::StorageFull))).is_err());
    }
}
