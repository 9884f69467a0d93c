//! `explain`: the findings: what each means, how oversleep knows, and what to do.

use clap::Args;
use oversleep_explain::{self as explain, FindingEntry};
use oversleep_report::listing::explain::{document, list, text};

use crate::args::help;
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request::names;
use crate::width::width;

/// List the findings, or explain one: what it means, how oversleep knows, and what to do
#[derive(Args, Debug)]
#[command(before_help = help::EXPLAIN)]
pub struct Explain {
    /// The finding's id or name, like OVS-L001 or timer-slack [default: list all]
    finding: Option<String>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Explain {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let one = self.finding.as_deref().map(find).transpose()?;
        match (one, self.json) {
            (None, false) => stdout::text(&list(width()))?,
            (Some(entry), false) => stdout::text(&text(entry, width()))?,
            (None, true) => stdout::json(&explain::registry().iter().map(|entry| document(entry)).collect())?,
            (Some(entry), true) => stdout::json(&document(entry))?,
        }
        Ok(Exit::Fine)
    }
}

fn find(name: &str) -> Result<&'static FindingEntry, Failure> {
    explain::entry(name).ok_or_else(|| {
        // Ids resemble one another, so only a name can be suggested.
        let is_id = name.to_ascii_uppercase().starts_with("OVS");
        let known: Vec<&str> =
            explain::registry().iter().map(|entry| if is_id { entry.id } else { entry.name }).collect();
        names::unknown("finding", name, &known, Some("oversleep explain")).into()
    })
}
