//! A result in the forms a reader can ask for.

use std::io;
use std::path::Path;

use oversleep_record::ResultFile;

use super::file;
use crate::width::width;
use oversleep_report::html;
use oversleep_report::terminal::{self, Detail};

/// For the terminal, with styles.
pub fn text(result: &ResultFile, detail: Detail) -> String {
    let mut text = terminal::report(result, width(), detail);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// One HTML page.
pub fn html(result: &ResultFile) -> Vec<u8> {
    html::report(result).into_bytes()
}

/// Every picture as a file in a directory; says how many.
///
/// # Errors
/// The system's.
pub fn svg(result: &ResultFile, directory: &Path) -> io::Result<usize> {
    let pictures = html::pictures(result);
    for (stem, svg) in &pictures {
        file::replace(&directory.join(format!("{stem}.svg")), svg.as_bytes())?;
    }
    Ok(pictures.len())
}
