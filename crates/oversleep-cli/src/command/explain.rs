//! `explain`: the findings: what each means, how oversleep knows, and what to do.

use clap::Args;
use oversleep_explain::{self as explain, FindingEntry};
use oversleep_lab::Laboratory;
use oversleep_lab::catalogue::Entry;
use oversleep_lab::lookup;
use oversleep_report::listing::explain::{about, all, one};
use oversleep_system::runtime_calls;

use crate::args::{Documents, List};
use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::show;
use crate::request::names;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep explain", "every finding"),
    ("oversleep explain timer-slack", "one: its cause, its evidence and its remedy"),
    ("oversleep explain OVS-L001", "the same by id"),
    ("oversleep explain quota", "every finding that mentions it"),
];

/// List the findings, or explain one: what it means, how oversleep knows, and what to do
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub struct Explain {
    /// The finding's id or name, like OVS-L001 or timer-slack, or a word that findings mention, like quota
    /// [default: list all]
    finding: Option<String>,

    #[command(flatten)]
    documents: Documents<List>,
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
        let Some(word) = &self.finding else { return show(&self.documents, &all()) };
        match find(word)? {
            Meaning::Finding(entry) => show(&self.documents, &one(entry)),
            Meaning::Found { entries, findings } => show(&self.documents, &about(word, &entries, &findings)),
        }
    }
}

fn find(word: &str) -> Result<Meaning, Failure> {
    if let Some(entry) = explain::entry(word) {
        return Ok(Meaning::Finding(entry));
    }
    let entries = lookup::entries_named(&Laboratory::on(oversleep_native::here()), word);
    let findings = explain::mentioning(word);
    if entries.is_empty() && findings.is_empty() {
        return Err(unknown(word));
    }
    Ok(Meaning::Found { entries, findings })
}

fn unknown(word: &str) -> Failure {
    if let Some(call) = runtime_calls::call(word).filter(|_| !runtime_calls::systems(word).is_empty()) {
        let span = format!("1{}", call.unit.as_deref().unwrap_or("ms"));
        let systems = runtime_calls::systems(word).join(", ");
        return Failure::usage(format!(
            "{word} is a call of a runtime, known on {systems}; `oversleep ask '{word}({span})' --on MACHINE` says what it \
             becomes on a machine, and why"
        ));
    }
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
