//! The findings: cause, evidence and remedies.

use oversleep_explain::{FindingEntry, RemedyEntry, Scope, Trial, registry};
use oversleep_lab::catalogue::Entry;
use serde_json::{Value, json};

use super::{Listing, Page, Rows, STRONG, entries};
use crate::terminal::clean;

/// The columns of findings, whether all or one.
const COLUMNS: &[&str] = &["id", "name", "severity", "summary", "applies_to"];

/// The list of all.
pub fn all() -> Listing<'static> {
    Listing {
        title: "findings".to_owned(),
        text: Box::new(list),
        data: registry().iter().map(|entry| document(entry)).collect(),
        rows: Rows::In(""),
        columns: COLUMNS,
    }
}

/// One of them.
pub fn one(entry: &FindingEntry) -> Listing<'_> {
    Listing {
        title: format!("{} {}", entry.id, entry.name),
        text: Box::new(|width| text(entry, width)),
        data: document(entry),
        rows: Rows::In(""),
        columns: COLUMNS,
    }
}

/// What a word names, and those that mention it.
pub fn about<'a>(word: &'a str, named: &'a [Entry], found: &'a [&'a FindingEntry]) -> Listing<'a> {
    Listing {
        title: format!("findings about {word}"),
        text: Box::new(move |width| {
            let named = entries::text(named, width);
            let found = match found {
                [] => String::new(),
                [one] => text(one, width),
                several => mentions(word, several, width),
            };
            let gap = if named.is_empty() || found.is_empty() { "" } else { "\n" };
            format!("{named}{gap}{found}")
        }),
        data: found.iter().map(|entry| document(entry)).chain(named.iter().map(entries::document)).collect(),
        rows: Rows::In(""),
        columns: &["id", "name", "severity", "summary", "call", "doc"],
    }
}

/// All of them, a line or a few each.
fn list(width: usize) -> String {
    let mut page = Page::new(width);
    lines(&mut page, registry());
    ends(page)
}

/// Those that mention a word, a line or a few each.
fn mentions(word: &str, entries: &[&FindingEntry], width: usize) -> String {
    let mut page = Page::new(width);
    page.line(&format!("{STRONG}Findings that mention {}{STRONG:#}", clean(word)));
    page.gap();
    lines(&mut page, entries);
    ends(page)
}

fn lines(page: &mut Page, entries: &[&FindingEntry]) {
    let longest = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    for entry in entries {
        let head = format!("{:9} {:longest$}", entry.id, entry.name);
        page.hanging(&head, 10 + longest + 2, entry.summary);
    }
}

fn ends(mut page: Page) -> String {
    page.gap();
    page.paragraph(0, "`oversleep explain ID` or `oversleep explain NAME` explains one.");
    page.finish()
}

/// As text.
fn text(entry: &FindingEntry, width: usize) -> String {
    let mut page = Page::new(width);
    page.line(&format!("{STRONG}{} {}{STRONG:#}", entry.id, entry.name));
    page.paragraph(0, entry.summary);
    page.gap();
    page.hanging("Applies to:", 12, entry.applies_to);
    page.hanging("Severity:", 12, &format!("{}: {}", entry.severity.noun(), entry.severity.meaning()));
    page.gap();
    page.paragraph(0, entry.meaning);
    for (title, text) in [("How oversleep knows:", entry.how_we_know), ("What to do:", entry.what_to_do)] {
        page.gap();
        page.hanging(title, 21, text);
    }
    if !entry.sources.is_empty() {
        page.gap();
        page.hanging("Documented:", 21, &entry.sources.join(" "));
    }
    if !entry.remedies.is_empty() {
        page.heading("Remedies");
    }
    for remedy in entry.remedies {
        page.gap();
        page.line(&format!("  {STRONG}{}{STRONG:#}", remedy.id));
        page.paragraph(4, remedy.summary);
        page.paragraph(4, remedy.how);
        page.paragraph(4, &trial(entry, remedy));
        if let Some(example) = remedy.example {
            page.gap();
            page.code(8, example);
        }
    }
    page.finish()
}

fn trial(entry: &FindingEntry, remedy: &RemedyEntry) -> String {
    let is_about_programs = matches!(entry.scope, Scope::Observed);
    match remedy.trial {
        Trial::Never(why) if is_about_programs => format!("`why` does not try it: {why}."),
        Trial::Here { .. } if is_about_programs => {
            "`oversleep why --try` tries it on the program, and `check` on threads of its own.".to_owned()
        }
        Trial::Here { .. } => "`check` tries it and shows what it gains.".to_owned(),
        Trial::ByExperiment { experiment, .. } => format!("Experiment {experiment} measures what it gains."),
        Trial::Never(why) => format!("`check` does not try it: {why}."),
    }
}

/// As JSON.
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
        "remedies": entry.remedies.iter().map(|entry| remedy(entry)).collect::<Value>(),
    })
}
