//! `explain`: every finding there is, and what each one means, how oversleep knows, and what to do.

use clap::Args;
use oversleep_explain::{self as explain, FindingEntry, RemedyEntry, Trial};
use oversleep_record::finding::Severity;
use serde_json::{Value, json};

use crate::args::help;
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request::names;
use crate::width::width;
use oversleep_report::listing::{Page, STRONG};

/// List the findings, or explain one: what it means, how we know, what to do
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
            (None, true) => {
                stdout::json(&Value::Array(explain::registry().iter().map(|entry| document(entry)).collect()))?
            }
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
    page.gap();
    page.paragraph(0, entry.meaning);
    for (title, text) in [("How we know:", entry.how_we_know), ("What to do:", entry.what_to_do)] {
        page.gap();
        page.hanging(title, 13, text);
    }
    if !entry.sources.is_empty() {
        page.gap();
        page.hanging("Documented:", 13, &entry.sources.join(" "));
    }
    if !entry.remedies.is_empty() {
        page.heading("Remedies");
    }
    for remedy in entry.remedies {
        page.gap();
        page.line(&format!("  {STRONG}{}{STRONG:#}", remedy.id));
        page.paragraph(4, remedy.summary);
        page.paragraph(4, remedy.how);
        page.paragraph(4, &trial(remedy));
        if let Some(example) = remedy.example {
            page.gap();
            page.code(8, example);
        }
    }
    page.finish()
}

fn trial(remedy: &RemedyEntry) -> String {
    match remedy.trial {
        Trial::Here { .. } => "`check` tries it and shows what it gains.".to_owned(),
        Trial::ByExperiment { experiment, .. } => format!("Experiment {experiment} measures what it gains."),
        Trial::Never(why) => format!("`check` does not try it: {why}."),
    }
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
            "tried_by_check": matches!(remedy.trial, Trial::Here { .. }),
        })
    };
    let remedies: Vec<Value> = entry.remedies.iter().map(|entry| remedy(entry)).collect();
    json!({
        "id": entry.id,
        "name": entry.name,
        "summary": entry.summary,
        "applies_to": entry.applies_to,
        "severity": entry.severity,
        "meaning": entry.meaning,
        "how_we_know": entry.how_we_know,
        "what_to_do": entry.what_to_do,
        "sources": entry.sources,
        "remedies": remedies,
    })
}
