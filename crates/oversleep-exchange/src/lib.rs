//! Files of other programs that measure timing, as results.
//!
//! A format is a file here with a [`Format`], and that entry's line in [`FORMATS`]. It is recognised by its content, never
//! by its name. What it states becomes series and facts; what it doesn't state stays unknown; what has to be known of its
//! figures becomes a note of the result. This crate only computes.
#![forbid(unsafe_code)]

mod clockres;
mod cyclictest;
mod draft;
mod energy;
mod hdr;
mod hyperfine;
mod measure_sleep;
mod no_result;
mod read;
mod rtla;
mod text;
mod timer_resolution;

use oversleep_record::ResultFile;

use draft::Draft;

pub use read::{ReadError, read};
pub use text::Text;

/// The largest file, in bytes. Those of the programs known here have some KB, logs some MB.
pub const FILE_BYTES_MAX: usize = 64 << 20;
/// How many bytes of a file's beginning are enough to recognise it.
pub const HEAD_BYTES: usize = 64 << 10;

/// A kind of file of another program.
pub struct Format {
    /// `cyclictest JSON`.
    pub name: &'static str,
    /// Whether a file that begins like this is one.
    knows: fn(&Text<'_>) -> bool,
    read: fn(&Text<'_>, Draft) -> Result<Draft, Fault>,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every format.
pub const FORMATS: &[&Format] = &[
    &cyclictest::JSON,
    &cyclictest::HISTOGRAM,
    &cyclictest::SUMMARY,
    &rtla::TIMERLAT,
    &rtla::OSNOISE,
    &hyperfine::JSON,
    &hyperfine::CSV,
    &hdr::LOG,
    &hdr::PERCENTILES,
    &measure_sleep::TEXT,
    &timer_resolution::CSV,
    &clockres::TEXT,
    &energy::REPORT,
    &no_result::PERF_SCHED_LATENCY,
    &no_result::PERF_SCHED_TIMEHIST,
    &no_result::ETL,
    &no_result::CHROME_JSON,
    &no_result::OSNOISE_TOP,
    &no_result::PROGRAM,
];

/// Why a file of a known format can't be a result.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// A line, counted from 1 (0: the whole file), and what is wrong with it.
    Line(usize, String),
    /// It holds no single values, or none of waits. The text says what reads it.
    NoResult(String),
}

/// Why there is no result in a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The file is damaged, or a version that isn't known.
    #[error("it looks like {format}, but {}{what}", line_words(*.line))]
    Malformed {
        /// The format's name.
        format: &'static str,
        /// The line, counted from 1; 0 for the whole file.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// No result can be made of it.
    #[error("it is {format}: {why}")]
    NoResult {
        /// The format's name.
        format: &'static str,
        /// Why, and what reads it.
        why: String,
    },
    /// Two formats claim it.
    #[error("it could be {0} or {1}; give a longer part of it")]
    Doubtful(&'static str, &'static str),
    /// It is too large.
    #[error("it is {format}, but larger than {} MB, the most that is read of one", FILE_BYTES_MAX >> 20)]
    TooLarge {
        /// The format's name.
        format: &'static str,
    },
}

fn line_words(line: usize) -> String {
    if line == 0 { String::new() } else { format!("in line {line}, ") }
}

/// The format of a file that begins like this; `None` if no other program's format is known by it.
///
/// # Errors
/// Two formats claim it.
pub fn recognise(head: &[u8]) -> Result<Option<&'static Format>, ImportError> {
    let text = Text::of(&head[..head.len().min(HEAD_BYTES)]);
    if text.all().contains("\"oversleep-") {
        return Ok(None);
    }
    let mut known = FORMATS.iter().filter(|format| (format.knows)(&text));
    match (known.next(), known.next()) {
        (Some(one), Some(two)) => Err(ImportError::Doubtful(one.name, two.name)),
        (one, _) => Ok(one.copied()),
    }
}

impl Format {
    /// Makes a result of a file of this format.
    ///
    /// # Errors
    /// Why there is none in it.
    pub fn read(&self, bytes: &[u8]) -> Result<ResultFile, ImportError> {
        if bytes.len() > FILE_BYTES_MAX {
            return Err(ImportError::TooLarge { format: self.name });
        }
        let read = (self.read)(&Text::of(bytes), Draft::new(self.name));
        read.and_then(Draft::finish).map_err(|fault| match fault {
            Fault::Line(line, what) => ImportError::Malformed { format: self.name, line, what },
            Fault::NoResult(why) => ImportError::NoResult { format: self.name, why },
        })
    }
}

#[cfg(test)]
mod tests;
