//! `--list`: what there is of a kind, with its documentation and whether it can be used here.

use oversleep_lab::catalogue::{Entry, Kind};
use serde_json::{Value, json};

use crate::args::{MachineArgs, OutputArgs};
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request::{machine, names};
use crate::width::width;
use oversleep_report::listing::{FAINT, GOOD, MISSING, Page, STRONG};

/// Prints the entries of a kind, or those named.
pub fn list(kind: Kind, wanted: &[String], on: &MachineArgs, output: &OutputArgs) -> Result<Exit, Failure> {
    let lab = machine::laboratory(on)?;
    let wanted = names::checked(&lab, kind, wanted.to_vec())?;
    let mut entries = lab.entries(kind);
    entries.retain(|entry| wanted.is_empty() || wanted.iter().any(|name| name == entry.name));
    if output.json.is_some() {
        stdout::json(&Value::Array(entries.iter().map(document).collect()))?;
    } else {
        stdout::text(&page(&entries, width()))?;
    }
    Ok(Exit::Fine)
}

/// As JSON.
pub fn document(entry: &Entry) -> Value {
    let properties: serde_json::Map<String, Value> =
        entry.properties.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    json!({
        "name": entry.name,
        "call": entry.call,
        "doc": entry.doc,
        "properties": properties,
        "since": entry.since,
        "page": entry.page,
        "available": entry.unavailable.is_none(),
        "unavailable": entry.unavailable.as_ref().map(ToString::to_string),
    })
}

fn page(entries: &[Entry], width: usize) -> String {
    let mut page = Page::new(width);
    for entry in entries {
        page.gap();
        let state = match &entry.unavailable {
            None => format!("{GOOD}available{GOOD:#}"),
            Some(reason) => format!("{MISSING}unavailable: {reason}{MISSING:#}"),
        };
        page.line(&format!("{STRONG}{}{STRONG:#}  {FAINT}{}{FAINT:#}  {state}", entry.name, entry.call));
        page.paragraph(4, entry.doc);
        let mut properties: Vec<String> =
            entry.properties.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        if !entry.since.is_empty() {
            properties.push(format!("since: {}", entry.since));
        }
        if !properties.is_empty() {
            page.paragraph(4, &properties.join(" · "));
        }
        if !entry.page.is_empty() {
            page.paragraph(4, entry.page);
        }
    }
    page.finish()
}
