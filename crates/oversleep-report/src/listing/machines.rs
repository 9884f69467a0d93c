//! The modelled machines: every figure with its source.

use oversleep_lab::machines::Description;
use serde_json::{Value, json};

use super::{FAINT, Listing, Page, Rows, STRONG};

/// The list of all.
pub fn every(all: &[Description]) -> Listing<'_> {
    Listing {
        title: "modelled machines".to_owned(),
        text: Box::new(|width| list(all, width)),
        data: all.iter().map(document).collect(),
        rows: Rows::In(""),
        columns: &["name", "title"],
    }
}

/// The figures of one of them.
pub fn listing(machine: &Description) -> Listing<'_> {
    Listing {
        title: format!("modelled machine {}: {}", machine.name, machine.title),
        text: Box::new(|width| text(machine, width)),
        data: document(machine),
        rows: Rows::In("/figures"),
        columns: &["key", "value", "means", "source"],
    }
}

/// All of them, a line each.
fn list(all: &[Description], width: usize) -> String {
    let mut page = Page::new(width);
    let longest = all.iter().map(|machine| machine.name.len()).max().unwrap_or(0);
    for machine in all {
        page.hanging(&format!("{:longest$}", machine.name), longest + 2, &machine.title);
    }
    page.gap();
    page.paragraph(
        0,
        "`oversleep machines NAME` shows the figures of one and their sources; `oversleep check --on NAME` measures on it; \
         `oversleep machines verify` compares all of them with published measurements.",
    );
    page.finish()
}

/// As text.
fn text(machine: &Description, width: usize) -> String {
    let mut page = Page::new(width);
    page.line(&format!("{STRONG}{}{STRONG:#}: {}", machine.name, machine.title));
    let mut part = "";
    for figure in &machine.figures {
        let (head, key) = figure.path.split_once('.').unwrap_or(("", &figure.path));
        if head != part {
            page.heading(head);
            part = head;
        }
        page.hanging(&format!("  {key}"), 26, &format!("{} · {}", figure.value, figure.doc));
        page.hanging("", 26, &format!("{FAINT}{}{FAINT:#}", figure.source));
    }
    page.heading("Change a figure");
    page.line(&format!("  oversleep check --on {} --set KEY=VALUE", machine.name));
    page.finish()
}

/// As JSON.
pub fn document(machine: &Description) -> Value {
    let figures = machine.figures.iter();
    let figures = figures.map(
        |figure| json!({ "key": figure.path, "value": figure.value, "means": figure.doc, "source": figure.source, "source_id": figure.source_id }),
    );
    json!({ "name": machine.name, "title": machine.title, "figures": figures.collect::<Value>() })
}
