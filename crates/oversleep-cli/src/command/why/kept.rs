//! Results of `why` in `report`, `compare` and `share`.

use std::path::{Path, PathBuf};

use oversleep_report::html;
use oversleep_why::compare::{compare, words};
use oversleep_why::{Summary, text};

use super::super::results::Outputs;
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::file::Files;
use crate::output::place;
use crate::output::stdout;
use crate::reading::{self, Either};

/// Shows one result in the named destinations, or on the terminal if there are none.
///
/// # Errors
/// A destination that can't be written.
pub fn show(summary: &Summary, json: Option<&Path>, html: Option<&Path>, quiet: bool) -> Result<(), Failure> {
    let mut files = Files::default();
    if let Some(path) = json {
        place::write("--json", path, &|out| summary.write_to(out), &mut files)?;
    }
    if let Some(path) = html {
        let page = html::why::report(summary);
        place::write("--html", path, &|out| out.write_all(page.as_bytes()), &mut files)?;
    }
    if json.is_none() && html.is_none() {
        stdout::text(&text::report(summary))?;
    }
    if !quiet {
        message::written(files.names());
    }
    Ok(())
}

/// Compares results, the base first.
///
/// # Errors
/// The first that can't be used, or a destination that can't be written.
pub fn side_by_side(paths: &[PathBuf], outputs: Outputs<'_>) -> Result<Exit, Failure> {
    let read = |path: &PathBuf| match reading::either(path, "compare a.json -")? {
        Either::Why(summary) => Ok(*summary),
        Either::Measured(_) => Err(Failure::failed(format!(
            "can't compare '{}' with a result of `oversleep why`: it is a result of another command",
            path.display()
        ))),
    };
    let runs = paths.iter().map(read).collect::<Result<Vec<Summary>, Failure>>()?;
    let comparison = compare(&runs).ok_or_else(|| Failure::usage("a comparison takes two results or more"))?;
    let mut files = Files::default();
    if let Some(path) = outputs.json {
        let document = |out: &mut dyn std::io::Write| {
            serde_json::to_writer(&mut *out, &comparison)?;
            out.write_all(b"\n")
        };
        place::write("--json", path, &document, &mut files)?;
    }
    if let Some(path) = outputs.html {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let page = html::why::comparison(&comparison, &names);
        place::write("--html", path, &|out| out.write_all(page.as_bytes()), &mut files)?;
    }
    if outputs.json.is_none() && outputs.html.is_none() {
        stdout::text(&words::text(&comparison))?;
    }
    if !outputs.quiet {
        message::written(files.names());
    }
    Ok(Exit::Fine)
}
