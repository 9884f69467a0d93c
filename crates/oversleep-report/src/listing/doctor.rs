//! What a process can observe and change on a machine, and how to allow more.

use oversleep_lab::catalogue::Entry;
use oversleep_record::Environment;
use oversleep_record::environment::PlatformId;
use oversleep_system::Ability;
use serde_json::{Value, json};

use super::{FAINT, GOOD, Listing, MISSING, Page, Rows, STRONG, entries, wine_answers};
use crate::words::counted;

/// The findings of `doctor`.
#[derive(Debug)]
pub struct Checkup<'a> {
    /// The platform.
    pub platform: PlatformId,
    /// CPUs this process may use.
    pub cpu_count: usize,
    /// What it can observe and do, or why not.
    pub abilities: Vec<Ability>,
    /// What a measurement can change.
    pub tunables: Vec<Entry>,
    /// Every fact about the machine.
    pub environment: Environment,
    /// The tunables that have a command-line option.
    pub options: &'a [&'a str],
}

/// What a process can observe and do.
pub fn listing<'a>(found: &'a Checkup) -> Listing<'a> {
    Listing {
        title: "what oversleep can observe and do here".to_owned(),
        text: Box::new(|width| text(found, width)),
        data: document(found),
        rows: Rows::These(rows(found)),
        columns: &["kind", "name", "present", "gives", "how", "why", "now", "call"],
    }
}

/// A row for each ability and each setting.
fn rows(found: &Checkup) -> Vec<Value> {
    let ability = |ability: &Ability| {
        let mut row = ability_document(ability);
        row["kind"] = json!("ability");
        row
    };
    let setting = |tunable: &Entry| {
        json!({
            "kind": "setting",
            "name": tunable.name,
            "present": tunable.unavailable.is_none(),
            "gives": tunable.doc,
            "how": entries::property(tunable, "reaches"),
            "why": tunable.unavailable.as_ref().map(ToString::to_string),
            "now": entries::property(tunable, "now"),
            "call": tunable.call,
        })
    };
    found.abilities.iter().map(ability).chain(found.tunables.iter().map(setting)).collect()
}

fn ability_document(ability: &Ability) -> Value {
    let mut document = json!({ "name": ability.name, "gives": ability.gives, "present": ability.state.is_ok() });
    match &ability.state {
        Ok(how) => document["how"] = json!(how),
        Err(why) => document["why"] = json!(why),
    }
    document
}

/// As one JSON document.
fn document(found: &Checkup) -> Value {
    json!({
        "platform": found.platform,
        "abilities": found.abilities.iter().map(ability_document).collect::<Value>(),
        "tunables": found.tunables.iter().map(entries::document).collect::<Value>(),
        "environment": found.environment,
    })
}

/// As text.
fn text(found: &Checkup, width: usize) -> String {
    let mut page = Page::new(width);
    let (id, cpus) = (&found.platform, counted(found.cpu_count, "usable CPU"));
    page.line(&format!("{STRONG}{} on {}, {cpus}{STRONG:#}", id.os, id.arch));
    if let Some(warning) = wine_answers(&found.environment) {
        page.paragraph(2, &warning);
    }
    let (present, missing): (Vec<&Ability>, Vec<&Ability>) =
        found.abilities.iter().partition(|ability| ability.state.is_ok());
    for (title, abilities) in [("Available", present), ("Not available, and how to allow it", missing)] {
        if !abilities.is_empty() {
            page.heading(title);
        }
        for Ability { name, gives, state } in abilities {
            let mark = if state.is_ok() { format!("{GOOD}yes{GOOD:#}") } else { format!("{MISSING}no{MISSING:#} ") };
            page.line(&format!("  {mark}  {STRONG}{name}{STRONG:#}"));
            match state {
                Ok(how) => page.paragraph(7, &format!("{gives} · {how}")),
                Err(why) => {
                    page.paragraph(7, gives);
                    page.paragraph(7, &why.to_string());
                }
            }
        }
    }
    page.heading("Settings a measurement can change, and their values now");
    for tunable in &found.tunables {
        let dashes = if found.options.contains(&tunable.name) { "--" } else { "--tune " };
        let now = entries::property(tunable, "now");
        page.line(&format!("  {STRONG}{dashes}{}{STRONG:#}  now {now}", tunable.name));
        page.paragraph(7, tunable.doc);
        page.line(&format!("       {FAINT}{}{FAINT:#}", tunable.call));
        page.paragraph(7, &format!("When changed, {}.", entries::property(tunable, "reaches")));
    }
    let unknown: Vec<String> = found.environment.unknown().map(|(name, reason)| format!("{name}: {reason}")).collect();
    if !unknown.is_empty() {
        page.heading("Not readable on this machine");
        unknown.iter().for_each(|line| page.hanging("  ", 4, line));
    }
    page.gap();
    page.paragraph(0, "Every command works without these; its report then contains less.");
    page.finish()
}
