//! A result as text, as a page, as pictures.

use std::io;
use std::path::Path;

use oversleep_record::ResultFile;

use super::file::Files;
use crate::width::width;
use oversleep_report::html;
use oversleep_report::terminal::{self, Detail};
use oversleep_report::view::pictures;

/// The report for the terminal, with styles; `files` are the places where the result was written.
pub fn text(result: &ResultFile, detail: Detail, files: &[String]) -> String {
    terminal::report(result, width(), detail, files)
}

/// One HTML page.
pub fn html(result: &ResultFile) -> Vec<u8> {
    html::report(result).into_bytes()
}

/// Writes every picture to a file in a directory and returns how many there are.
///
/// # Errors
/// The system's.
pub fn svg(result: &ResultFile, directory: &Path, files: &mut Files) -> io::Result<usize> {
    let pictures = pictures::all(result);
    for picture in &pictures {
        files
            .replace(&directory.join(format!("{}.svg", picture.name)), &|out| out.write_all(picture.svg.as_bytes()))?;
    }
    Ok(pictures.len())
}
