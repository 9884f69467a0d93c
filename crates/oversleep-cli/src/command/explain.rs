//! `explain`: the findings: what each means, how oversleep knows, and what to do.

use clap::Args;
use oversleep_explain::{self as explain, FindingEntry};
use oversleep_lab::Laboratory;
use oversleep_lab::catalogue::{self, Entry};
use oversleep_report::listing::entries;
use oversleep_report::listing::explain::{document, list, mentions, text};

use crate::args::help;
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request::names;
use crate::width::width;

/// List the findings, or explain one: what it means, how oversleep knows, and what to do
#[derive(Args, Debug)]
#[command(before_help = help::EXPLAIN)]
pub struct Explain {
    /// The finding's id or name, like OVS-L001 or timer-slack, or a word that findings mention, like quota
    /// [default: list all]
    finding: Option<String>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// What a word names.
enum Meaning {
    /// A finding.
    Finding(&'static FindingEntry),
    /// Clocks, waits and the like, and the findings that mention it.
    Found { entries: Vec<Entry>, findings: Vec<&'static FindingEntry> },
}

impl Explain {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let Some(word) = &self.finding else {
            match self.json {
                false => stdout::text(&list(width()))?,
                true => stdout::json(&explain::registry().iter().map(|entry| document(entry)).collect())?,
            }
            return Ok(Exit::Fine);
        };
        match (find(word)?, self.json) {
            (Meaning::Finding(entry), false) => stdout::text(&text(entry, width()))?,
            (Meaning::Finding(entry), true) => stdout::json(&document(entry))?,
            (Meaning::Found { entries, findings }, false) => stdout::text(&found(word, &entries, &findings))?,
            (Meaning::Found { entries, findings }, true) => {
                let findings = findings.iter().map(|entry| document(entry));
                stdout::json(&findings.chain(entries.iter().map(entries::document)).collect())?;
            }
        }
        Ok(Exit::Fine)
    }
}

fn find(word: &str) -> Result<Meaning, Failure> {
    if let Some(entry) = explain::entry(word) {
        return Ok(Meaning::Finding(entry));
    }
    let entries = catalogue::called(&Laboratory::on(oversleep_native::here()), word);
    let findings = explain::mentioning(word);
    if entries.is_empty() && findings.is_empty() {
        return Err(unknown(word));
    }
    Ok(Meaning::Found { entries, findings })
}

fn unknown(word: &str) -> Failure {
    // Ids resemble one another, so only a name can be suggested.
    let is_id = word.to_ascii_uppercase().starts_with("OVS");
    let known: Vec<&str> = explain::registry().iter().map(|entry| if is_id { entry.id } else { entry.name }).collect();
    if is_id || names::nearest(word, &known).is_some() {
        return names::unknown("finding", word, &known, Some("oversleep explain")).into();
    }
    Failure::usage(format!(
        "no finding, clock or wait is named '{word}', and no finding mentions it; `oversleep explain` lists all findings"
    ))
}

/// The clocks, waits and the like, then the finding, or a list of several.
fn found(word: &str, entries: &[Entry], findings: &[&'static FindingEntry]) -> String {
    let named = entries::text(entries, width());
    let found = match findings {
        [] => String::new(),
        [one] => text(one, width()),
        several => mentions(word, several, width()),
    };
    let gap = if named.is_empty() || found.is_empty() { "" } else { "\n" };
    format!("{named}{gap}{found}")
}
