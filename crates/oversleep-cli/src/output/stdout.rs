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

/// Whether nobody reads any longer. Windows says it in several ways, not all of which the standard library counts as a
/// broken pipe: ERROR_PIPE_NOT_CONNECTED where the other end was closed.
/// <https://learn.microsoft.com/windows/win32/debug/system-error-codes--0-499->
fn is_reader_gone(error: &io::Error) -> bool {
    const PIPE_NOT_CONNECTED: i32 = 233;
    // Unix has no error of that number.
    error.kind() == io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(PIPE_NOT_CONNECTED)
}

fn done(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if is_reader_gone(&error) => Err(Failure::ReaderGone),
        Err(error) => Err(Failure::failed(format!("can't write to standard output: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_left_is_no_failure_to_write() {
        let said = |error: io::Error| done(Err(error)).expect_err("an error");
        for gone in [io::Error::from(io::ErrorKind::BrokenPipe), io::Error::from_raw_os_error(233)] {
            assert!(matches!(said(gone), Failure::ReaderGone));
        }
        assert!(!matches!(said(io::Error::from(io::ErrorKind::StorageFull)), Failure::ReaderGone));
    }
}
