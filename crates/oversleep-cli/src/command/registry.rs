//! `--list`: the entries of a kind, with their documentation and whether they are available here.

use std::path::Path;

use oversleep_lab::catalogue::Kind;
use oversleep_record::CommandName;
use oversleep_report::listing::entries::{document, text};

use super::measuring::refuse_names_as_file;
use crate::args::{MachineArgs, OutputArgs};
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::file::Files;
use crate::output::{place, stdout};
use crate::request::{machine, names};
use crate::width::width;

/// Prints the entries of a kind, or those named.
pub fn list(
    command: CommandName,
    kind: Kind,
    wanted: &[String],
    on: &MachineArgs,
    output: &OutputArgs,
) -> Result<Exit, Failure> {
    let lab = machine::laboratory(on)?;
    refuse_names_as_file(&format!("{command} --list"), output, |path| names::of(&lab, kind).contains(&path))?;
    let wanted = names::checked(&lab, kind, wanted.to_vec())?;
    let mut entries = lab.entries(kind);
    entries.retain(|entry| wanted.is_empty() || wanted.iter().any(|name| name == entry.name));
    match &output.json {
        Some(path) => json(path, &entries.iter().map(document).collect(), output.quiet)?,
        None => stdout::text(&text(&entries, width()))?,
    }
    Ok(Exit::Fine)
}

/// Writes a list to where `--json` says.
pub fn json(path: &Path, list: &serde_json::Value, quiet: bool) -> Result<(), Failure> {
    let mut files = Files::default();
    place::write("--json", path, &|out| writeln!(out, "{list:#}"), &mut files)?;
    if !quiet {
        message::written(files.names());
    }
    Ok(())
}
