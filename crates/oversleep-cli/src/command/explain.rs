//! `explain`: every finding there is, and each one's cause, evidence and cure.

use clap::Args;
use oversleep_explain::{self as explain, FindingEntry, Harmless, RemedyEntry, remedies};
use oversleep_record::finding::Severity;
use serde_json::{Value, json};

use crate::args::help;
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request::names;
use crate::width::width;
use oversleep_report::listing::{Page, STRONG};

/// List the findings, or explain one: cause, how we know, cure
#[derive(Args, Debug)]
#[command(before_help = help::EXPLAIN)]
pub struct Explain {
    /// The finding's id or name, like OVS-L001 or timer-slack [default: list all]
    finding: Option<String>,

    /// As one JSON document
    #[arg(long)]
    json: bool,
}

impl Explain {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let one = self.finding.as_deref().map(find).transpose()?;
        match (one, self.json) {
            (None, false) => stdout::text(&list(width()))?,
            (Some(entry), false) => stdout::text(&page(entry, width()))?,
            (None, true) => stdout::json(&Value::Array(explain::registry().iter().map(document).collect()))?,
            (Some(entry), true) => stdout::json(&document(entry))?,
        }
        Ok(Exit::Fine)
    }
}

fn find(name: &str) -> Result<&'static FindingEntry, Failure> {
    explain::entry(name).ok_or_else(|| {
        // Ids look like one another; only a name says what was meant.
        let is_id = name.to_ascii_uppercase().starts_with("OVS");
        let known: Vec<&str> =
            explain::registry().iter().map(|entry| if is_id { entry.id } else { entry.name }).collect();
        names::unknown("finding", name, &known, Some("oversleep explain"))
    })
}

fn list(width: usize) -> String {
    let mut page = Page::new(width);
    let longest = explain::registry().iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    for entry in explain::registry() {
        let head = format!("{:9} {:longest$}", entry.id, entry.name);
        page.hanging(&head, 10 + longest + 2, entry.summary);
    }
    page.gap();
    page.paragraph(0, "`oversleep explain ID` or `oversleep explain NAME` explains one.");
    page.finish()
}

fn page(entry: &FindingEntry, width: usize) -> String {
    let mut page = Page::new(width);
    page.line(&format!("{STRONG}{} {}{STRONG:#}", entry.id, entry.name));
    page.paragraph(0, entry.summary);
    page.gap();
    page.hanging("Applies to:", 12, entry.applies_to);
    page.hanging("Severity:", 12, severity(entry.severity));
    for paragraph in entry.explanation.split("\n\n") {
        page.gap();
        page.paragraph(0, paragraph);
    }
    let remedies: Vec<&RemedyEntry> = entry.remedies.iter().filter_map(|id| remedies::get(id)).collect();
    if !remedies.is_empty() {
        page.heading("Remedies");
    }
    for remedy in remedies {
        page.gap();
        page.line(&format!("  {STRONG}{}{STRONG:#}", remedy.id));
        page.paragraph(4, remedy.summary);
        page.paragraph(4, remedy.how);
        // Those that experiments measure anyway have a reason for one report, not in general.
        if let (Harmless::NotTriedBecause(why), None) = (remedy.harmless, remedy.compare) {
            page.paragraph(4, &format!("Not tried by `check`: {why}"));
        }
        if let Some(example) = remedy.example {
            page.gap();
            page.code(8, example);
        }
    }
    page.finish()
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Fault => "fault: timing that a program can't trust",
        Severity::Cost => "cost: time lost that a remedy gets back",
        Severity::Note => "note: good to know before choosing a call",
    }
}

fn document(entry: &FindingEntry) -> Value {
    let remedy = |remedy: &RemedyEntry| {
        json!({
            "id": remedy.id,
            "summary": remedy.summary,
            "how": remedy.how,
            "example": remedy.example,
            "tried_by_check": matches!(remedy.harmless, Harmless::TryHere(_)),
        })
    };
    let remedies: Vec<Value> = entry.remedies.iter().filter_map(|id| remedies::get(id)).map(remedy).collect();
    json!({
        "id": entry.id,
        "name": entry.name,
        "summary": entry.summary,
        "applies_to": entry.applies_to,
        "severity": entry.severity,
        "explanation": entry.explanation,
        "remedies": remedies,
    })
}
