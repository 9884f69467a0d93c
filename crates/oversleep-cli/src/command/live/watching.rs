//! What all commands have in common that watch until Ctrl-C or for a time: lines as things happen, and a result at the end.

use std::sync::Arc;

use oversleep_measure::StopFlag;
use oversleep_record::ResultFile;

use crate::exit::Failure;
use crate::interrupt;
use crate::message;
use crate::output::stdout::{self, Reader};
use crate::output::{self, rescue};

/// Watches until it ends by itself or a signal raises the flag. Where it begins is said by `watch`, because who reads that
/// may send a signal. From the end on, a signal that ends the process keeps the result.
///
/// # Errors
/// Those of what watches.
pub fn watched(
    stop: &StopFlag,
    watch: impl FnOnce() -> Result<ResultFile, Failure>,
) -> Result<Arc<ResultFile>, Failure> {
    let _signals = interrupt::raise_on_signal(stop);
    let file = Arc::new(watch()?);
    rescue::hold(&file, output::stem(&file));
    Ok(file)
}

/// The lines of what happens: on standard output, or as notes where another document takes that.
pub struct Lines {
    is_stdout_taken: bool,
    is_reader_gone: bool,
}

impl Lines {
    /// None yet.
    pub fn new(is_stdout_taken: bool) -> Lines {
        Lines { is_stdout_taken, is_reader_gone: false }
    }

    /// Writes a line, if anybody still reads them.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn line(&mut self, line: &str) -> Result<(), Failure> {
        if self.is_reader_gone {
            return Ok(());
        }
        if self.is_stdout_taken {
            message::note(line);
            return Ok(());
        }
        self.is_reader_gone = stdout::text(&format!("{line}\n"))? == Reader::Gone;
        Ok(())
    }

    /// Whether nobody reads them any more.
    pub fn is_reader_gone(&self) -> bool {
        self.is_reader_gone
    }
}
