//! The findings: cause, evidence and remedies.

use oversleep_explain::{FindingEntry, Harmless, RemedyEntry, registry, remedies};
use oversleep_record::finding::Severity;
use serde_json::{Value, json};

use super::{Page, STRONG};

/// All of them, a line or a few each.
pub fn list(width: usize) -> String {
    let mut page = Page::new(width);
    let longest = registry().iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    for entry in registry() {
        let head = format!("{:9} {:longest$}", entry.id, entry.name);
        page.hanging(&head, 10 + longest + 2, entry.summary);
    }
    page.gap();
    page.paragraph(0, "`oversleep explain ID` or `oversleep explain NAME` explains one.");
    page.finish()
}

/// One of them.
pub fn text(entry: &FindingEntry, width: usize) -> String {
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
    if remedies_of(entry).next().is_some() {
        page.heading("Remedies");
    }
    for remedy in remedies_of(entry) {
        page.gap();
        page.line(&format!("  {STRONG}{}{STRONG:#}", remedy.id));
        page.paragraph(4, remedy.summary);
        page.paragraph(4, remedy.how);
        // For those that experiments measure anyway, the reason is one of a report, not a general one.
        if let (Harmless::NotTriedBecause(why), None) = (remedy.harmless, remedy.compare) {
            page.paragraph(4, &format!("`check` does not try it: {why}"));
        }
        if let Some(example) = remedy.example {
            page.gap();
            page.code(8, example);
        }
    }
    page.finish()
}

fn remedies_of(entry: &FindingEntry) -> impl Iterator<Item = &'static RemedyEntry> {
    entry.remedies.iter().filter_map(|id| remedies::get(id))
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Fault => "fault: timing you can't trust",
        Severity::Cost => "cost: time a remedy gets back",
        Severity::Note => "note: good to know before you choose a call",
    }
}

/// As JSON.
pub fn document(entry: &FindingEntry) -> Value {
    let remedy = |remedy: &RemedyEntry| {
        json!({
            "id": remedy.id,
            "summary": remedy.summary,
            "how": remedy.how,
            "example": remedy.example,
            "tried_by_check": matches!(remedy.harmless, Harmless::TryHere(_)),
        })
    };
    json!({
        "id": entry.id,
        "name": entry.name,
        "summary": entry.summary,
        "applies_to": entry.applies_to,
        "severity": entry.severity,
        "explanation": entry.explanation,
        "remedies": remedies_of(entry).map(remedy).collect::<Value>(),
    })
}
