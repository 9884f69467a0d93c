//! Documents: every subject in every format, written piece by piece. Figures leave by this door alone, for the command, for
//! the page in the browser and for tests.
//!
//! A format is a file here with an [`Entry`], and that entry's line in [`FORMATS`]; the command's options, their help, the
//! page's buttons and the tests derive from it. It writes what a [`Subject`] has in common with all others: its data, its
//! table, its view. A subject is an `impl Subject`; it has every format.

mod assertions;
mod csv;
mod exports;
mod fleet;
mod html;
mod json;
mod markdown;
mod records;
mod subject;
mod text;

use std::io::{self, Write};

use crate::terminal::Detail;

pub use crate::listing::Listing;
pub use subject::{Answers, Comparison, Gallery, Subject};

/// A format of documents.
pub struct Entry {
    /// Its name, which is its option, too: `csv` is written by `--csv`.
    pub name: &'static str,
    /// The ending of its files, without the dot.
    pub extension: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// What the option does, as its help says it; `None` for what a terminal shows anyway.
    pub option: Option<&'static str>,
    /// Whether the option without a file means standard output.
    pub is_for_pipes: bool,
    /// Writes a subject.
    pub write: fn(&dyn Subject, &Layout, &mut dyn Write) -> io::Result<()>,
}

/// Formats are the same if their names are.
impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every format that is one document. Pictures are many documents: [`Subject::pictures`].
pub const FORMATS: &[&Entry] = &[&JSON, &HTML, &CSV, &MARKDOWN, &TEXT];

/// The format that `--export NAME=FILE` means: those of [`EXPORTS`], and those that have an option of their own.
pub fn export(name: &str) -> Option<&'static Entry> {
    exports().find(|format| format.name == name)
}

/// Every format that a result can be exported in.
pub fn exports() -> impl Iterator<Item = &'static Entry> {
    EXPORTS.iter().chain(FORMATS.iter().filter(|format| format.option.is_some())).copied()
}

pub use assertions::{GITHUB, JUNIT};
pub use csv::CSV;
pub use exports::EXPORTS;
pub use html::HTML;
pub use json::JSON;
pub use markdown::MARKDOWN;
pub use records::{Brief, Head, Records};
pub use text::{TEXT, as_text};

/// How a document is laid out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// The most columns of text.
    pub width: usize,
    /// How much of the subject a person is shown.
    pub detail: Detail,
    /// Whether means and intervals of series follow.
    pub intervals: bool,
}

/// Writes a subject in a format.
///
/// # Errors
/// Those of `out`.
pub fn write(subject: &dyn Subject, format: &Entry, layout: &Layout, out: &mut dyn Write) -> io::Result<()> {
    (format.write)(subject, layout, out)
}

/// The whole document. Only where it has to be in memory: a result can be larger than that.
pub fn bytes(subject: &dyn Subject, format: &Entry, layout: &Layout) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(subject, format, layout, &mut bytes).expect("memory takes everything");
    bytes
}

#[cfg(test)]
mod tests;
