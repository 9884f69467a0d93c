//! `--list`: the entries of a kind, with their documentation and whether they are available here.

use oversleep_lab::catalogue::Kind;
use oversleep_record::CommandName;
use oversleep_report::listing::entries::listing;

use super::measuring::refuse_names_as_file;
use crate::args::{MachineArgs, OutputArgs};
use crate::exit::{Exit, Failure};
use crate::output::show;
use crate::request::{machine, names};

/// Shows the entries of a kind, or those named.
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
    show(output, &listing(&command.to_string(), &entries))
}
