//! `--list`: the entries of a kind, with their documentation and whether they are available here.

use oversleep_lab::catalogue::Kind;
use oversleep_report::listing::entries::{document, text};

use crate::args::{MachineArgs, OutputArgs};
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request::{machine, names};
use crate::width::width;

/// Prints the entries of a kind, or those named.
pub fn list(kind: Kind, wanted: &[String], on: &MachineArgs, output: &OutputArgs) -> Result<Exit, Failure> {
    let lab = machine::laboratory(on)?;
    let wanted = names::checked(&lab, kind, wanted.to_vec())?;
    let mut entries = lab.entries(kind);
    entries.retain(|entry| wanted.is_empty() || wanted.iter().any(|name| name == entry.name));
    match output.json {
        Some(_) => stdout::json(&entries.iter().map(document).collect())?,
        None => stdout::text(&text(&entries, width()))?,
    }
    Ok(Exit::Fine)
}
