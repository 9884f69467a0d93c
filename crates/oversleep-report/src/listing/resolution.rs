//! The setting that decides how precisely timers end on a machine, its scope, and who holds which value.

use std::collections::BTreeMap;

use oversleep_lab::ResolutionTunable;
use oversleep_record::environment::{Fact, FactValue, PlatformId};
use oversleep_record::{Environment, FactName, Unavailable};
use oversleep_system::{ResolutionHolders, ResolutionRow};
use serde_json::{Value, json};

use super::{FAINT, Listing, MISSING, Page, Rows, STRONG, wine_answers};
use crate::view::head::fact_text;
use crate::words::counted;

/// Facts about timers; `doctor` shows the others.
const FACTS: [&str; 6] = [
    "timer.",
    "clocksource.",
    "qpc.",
    FactName::OsBuild.as_str(),
    FactName::OsName.as_str(),
    FactName::OsWineVersion.as_str(),
];

/// What `resolution show` found.
#[derive(Debug)]
pub struct Resolution {
    /// The platform.
    pub platform: PlatformId,
    /// The setting, where a program can change one.
    pub tunable: Option<ResolutionTunable>,
    /// Every fact about the machine.
    pub environment: Environment,
    /// The results of the trials.
    pub rows: Vec<ResolutionRow>,
    /// Which processes hold which setting.
    pub holders: Result<ResolutionHolders, Unavailable>,
}

impl Resolution {
    fn facts(&self) -> impl Iterator<Item = (&String, &Fact)> {
        self.environment.facts.iter().filter(|(name, _)| FACTS.iter().any(|prefix| name.starts_with(prefix)))
    }
}

/// What a machine grants, row by row; `with_names` names processes in the text.
pub fn listing(found: &Resolution, with_names: bool) -> Listing<'_> {
    Listing {
        title: "timer resolution".to_owned(),
        text: Box::new(move |width| text(found, with_names, width)),
        data: document(found),
        rows: Rows::In("/found_now"),
        columns: &["what", "how", "says", "unknown"],
    }
}

/// As one JSON document, without the names of processes, which reveal what somebody runs: those are for the terminal
/// alone.
pub fn document(found: &Resolution) -> Value {
    let tunable = found.tunable.as_ref().map(|tunable| {
        json!({
            "name": tunable.name,
            "call": tunable.call,
            "reach": tunable.reached.sentence,
            "reaches_programs": tunable.reached.programs,
            "current": tunable.current.as_ref().ok(),
            "unknown": tunable.current.as_ref().err(),
        })
    });
    let row = |row: &ResolutionRow| {
        let (says, unknown) = (row.says.as_ref().ok(), row.says.as_ref().err());
        json!({ "what": row.what, "how": row.how, "says": says, "unknown": unknown })
    };
    let holders = match &found.holders {
        Ok(holders) => {
            let settings = holders.settings.iter();
            let settings = settings
                .map(|held| json!({ "setting": held.setting, "processes": held.process_count }))
                .collect::<Value>();
            json!({ "settings": settings, "unknown_processes": holders.unknown_count })
        }
        Err(why) => json!({ "unknown": why }),
    };
    json!({
        "platform": found.platform,
        "tunable": tunable,
        "facts": found.facts().collect::<BTreeMap<_, _>>(),
        "found_now": found.rows.iter().map(row).collect::<Value>(),
        "holders": holders,
    })
}

/// As text.
pub fn text(found: &Resolution, with_names: bool, width: usize) -> String {
    let mut page = Page::new(width);
    let id = &found.platform;
    page.line(&format!("{STRONG}What decides how precisely timers end on {} {}{STRONG:#}", id.os, id.arch));
    if let Some(warning) = wine_answers(&found.environment) {
        page.paragraph(2, &warning);
    }
    match &found.tunable {
        Some(tunable) => {
            let now = tunable.current.as_ref().map_or_else(|why| format!("unknown: {why}"), ToString::to_string);
            page.line(&format!("  {STRONG}{}{STRONG:#}  now {now}  {FAINT}{}{FAINT:#}", tunable.name, tunable.call));
            page.paragraph(4, tunable.doc);
            page.paragraph(4, &format!("When changed, {}.", tunable.reached.sentence));
        }
        None => page.paragraph(2, "No program can change it here."),
    }
    page.heading("What the system states");
    let longest = found.facts().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, fact) in found.facts() {
        let is_known = !matches!(fact.value, FactValue::Unknown(_));
        let text = fact_text(name, &fact.value);
        let text = if is_known { text } else { format!("{MISSING}{text}{MISSING:#}") };
        page.hanging(&format!("  {name:longest$}"), longest + 4, &text);
    }
    if longest == 0 {
        page.paragraph(2, "Nothing about its timers.");
    }
    if !found.rows.is_empty() {
        page.heading("Tried just now");
    }
    let longest = found.rows.iter().map(|row| row.what.chars().count()).max().unwrap_or(0);
    for row in &found.rows {
        let says = row.says.as_ref().map_or_else(|why| format!("unknown: {why}"), Clone::clone);
        page.hanging(&format!("  {:longest$}", row.what), longest + 4, &says);
    }
    page.heading("Which processes hold which setting");
    match &found.holders {
        Ok(holders) => list(&mut page, holders, with_names),
        Err(why) => page.paragraph(2, &format!("Unknown: {why}.")),
    }
    page.finish()
}

fn list(page: &mut Page, holders: &ResolutionHolders, with_names: bool) {
    for held in &holders.settings {
        let names = if with_names { format!(": {}", held.names.join(", ")) } else { String::new() };
        let text = format!("{}{names}", counted(held.process_count, "process"));
        page.hanging(&format!("  {:>8}", held.setting.to_string()), 12, &text);
    }
    if holders.unknown_count > 0 {
        page.paragraph(2, &format!("{} can't be read.", counted(holders.unknown_count, "process")));
    }
    if holders.settings.is_empty() && holders.unknown_count == 0 {
        page.paragraph(2, "No other process is visible from here.");
    }
    if !with_names && !holders.settings.is_empty() {
        page.paragraph(2, "--processes names them.");
    }
}
