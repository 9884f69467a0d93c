//! The entries of a registry: clocks, waits, hand-offs, tunables.

use oversleep_lab::catalogue::Entry;
use serde_json::{Value, json};

use super::{FAINT, GOOD, Listing, MISSING, Page, Rows, STRONG};

/// The list of entries; `what` they are.
pub fn listing<'a>(what: &str, entries: &'a [Entry]) -> Listing<'a> {
    Listing {
        title: what.to_owned(),
        text: Box::new(|width| text(entries, width)),
        data: entries.iter().map(document).collect(),
        rows: Rows::In(""),
        columns: &["name", "call", "available", "unavailable", "since", "doc", "page"],
    }
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

/// As text, a paragraph each.
pub fn text(entries: &[Entry], width: usize) -> String {
    let mut page = Page::new(width);
    for entry in entries {
        page.gap();
        let state = match &entry.unavailable {
            None => format!("{GOOD}available{GOOD:#}"),
            Some(reason) => format!("{MISSING}not available: {reason}{MISSING:#}"),
        };
        page.line(&format!("{STRONG}{}{STRONG:#}  {FAINT}{}{FAINT:#}  {state}", entry.name, entry.call));
        page.paragraph(4, entry.doc);
        let since = (!entry.since.is_empty()).then(|| format!("since: {}", entry.since));
        let properties = entry.properties.iter().map(|(name, value)| format!("{name}: {value}")).chain(since);
        page.paragraph(4, &properties.collect::<Vec<_>>().join(" · "));
        page.paragraph(4, entry.page);
    }
    page.finish()
}

/// A property of an entry.
pub fn property<'a>(entry: &'a Entry, name: &str) -> &'a str {
    entry.properties.iter().find(|(property, _)| *property == name).map_or("unknown", |(_, value)| value)
}
