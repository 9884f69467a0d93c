//! `resolution show`: what the system says of its timers, whom a setting reaches, and who holds which.

use clap::Args;
use oversleep_lab::{Laboratory, ResolutionTunable};
use oversleep_record::environment::{Fact, FactValue};
use oversleep_record::{Environment, FactName, Unavailable};
use oversleep_system::{ResolutionHolders, ResolutionRow};
use serde_json::{Value, json};

use crate::args::help;
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::width::width;
use oversleep_report::listing::{FAINT, MISSING, Page, STRONG};
use oversleep_report::view::head::fact_text;
use oversleep_report::view::words::grouped;

/// Say what the system grants, who inherits it, and who holds what where the system tells
///
/// Nothing on the machine is changed: what is tried is tried on a thread and on children that end at once.
#[derive(Args, Debug)]
#[command(before_help = help::RESOLUTION_SHOW)]
pub(super) struct Show {
    /// As one JSON document
    #[arg(long)]
    json: bool,

    /// Name the processes that hold each setting
    #[arg(long, conflicts_with = "json")]
    processes: bool,
}

/// Facts that say how timers run; the rest of the machine is `doctor`'s.
const FACTS: [&str; 6] = [
    "timer.",
    "clocksource.",
    "qpc.",
    FactName::OsBuild.as_str(),
    FactName::OsName.as_str(),
    FactName::OsWineVersion.as_str(),
];

impl Show {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let lab = Laboratory::on(oversleep_native::here());
        let tunable = lab.resolution_tunable();
        let environment = lab.environment();
        let holders = lab.resolution_holders();
        if self.json {
            stdout::json(&document(&lab, tunable.as_ref(), &environment, &holders))?;
        } else {
            stdout::text(&page(&lab, tunable.as_ref(), &environment, &holders, self.processes))?;
        }
        Ok(Exit::Fine)
    }
}

/// What stands before anything that Wine says in Windows' place.
pub(in crate::command) fn wine_answers(environment: &Environment) -> Option<String> {
    let version = environment.text(FactName::OsWineVersion)?;
    Some(format!("Under Wine {version}: these are Wine's answers on its host, not Windows'."))
}

fn facts(environment: &Environment) -> impl Iterator<Item = (&String, &Fact)> {
    environment.facts.iter().filter(|(name, _)| FACTS.iter().any(|prefix| name.starts_with(prefix)))
}

fn document(
    lab: &Laboratory,
    tunable: Option<&ResolutionTunable>,
    environment: &Environment,
    holders: &Result<ResolutionHolders, Unavailable>,
) -> Value {
    let tunable = tunable.map(|tunable| {
        json!({
            "name": tunable.name,
            "call": tunable.call,
            "reach": tunable.reached.sentence,
            "reaches_programs": tunable.reached.programs,
            "current": tunable.current.as_ref().ok(),
            "unknown": tunable.current.as_ref().err(),
        })
    });
    let rows = lab.resolution_rows();
    let found = |row: &ResolutionRow| {
        let (says, unknown) = (row.says.as_ref().ok(), row.says.as_ref().err());
        json!({ "what": row.what, "how": row.how, "says": says, "unknown": unknown })
    };
    let holders = match holders {
        // Names of processes say what somebody runs: they are for the terminal alone.
        Ok(holders) => json!({
            "settings": holders
                .settings
                .iter()
                .map(|held| json!({ "setting": held.setting, "processes": held.process_count }))
                .collect::<Vec<Value>>(),
            "unknown_processes": holders.unknown_count,
        }),
        Err(why) => json!({ "unknown": why }),
    };
    json!({
        "platform": lab.platform_id(),
        "tunable": tunable,
        "facts": facts(environment).collect::<std::collections::BTreeMap<_, _>>(),
        "found_now": rows.iter().map(found).collect::<Vec<Value>>(),
        "holders": holders,
    })
}

fn page(
    lab: &Laboratory,
    tunable: Option<&ResolutionTunable>,
    environment: &Environment,
    holders: &Result<ResolutionHolders, Unavailable>,
    with_names: bool,
) -> String {
    let mut page = Page::new(width());
    let id = lab.platform_id();
    page.line(&format!("{STRONG}What decides how exactly timers end on {}, {}{STRONG:#}", id.os, id.arch));
    if let Some(warning) = wine_answers(environment) {
        page.paragraph(2, &warning);
    }
    match tunable {
        Some(tunable) => {
            let now = tunable.current.as_ref().map_or_else(|why| format!("unknown: {why}"), ToString::to_string);
            page.line(&format!("  {STRONG}{}{STRONG:#}  now {now}  {FAINT}{}{FAINT:#}", tunable.name, tunable.call));
            page.paragraph(4, tunable.doc);
            page.hanging("    ", 4, &format!("Changed, {}.", tunable.reached.sentence));
        }
        None => page.paragraph(2, "No program can change it here."),
    }
    page.heading("What the system says");
    let longest = facts(environment).map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, fact) in facts(environment) {
        let text = fact_text(name, &fact.value);
        let text =
            if matches!(fact.value, FactValue::Unknown(_)) { format!("{MISSING}{text}{MISSING:#}") } else { text };
        page.hanging(&format!("  {name:longest$}"), longest + 4, &text);
    }
    if facts(environment).next().is_none() {
        page.paragraph(2, "Nothing that this version asks for.");
    }
    let rows = lab.resolution_rows();
    if !rows.is_empty() {
        page.heading("Found out just now");
        let longest = rows.iter().map(|row| row.what.chars().count()).max().unwrap_or(0);
        for row in &rows {
            let says = row.says.as_ref().map_or_else(|why| format!("unknown: {why}"), Clone::clone);
            page.hanging(&format!("  {:longest$}", row.what), longest + 4, &says);
        }
    }
    page.heading("Who holds what");
    match holders {
        Ok(holders) => list(&mut page, holders, with_names),
        Err(why) => page.paragraph(2, &format!("Unknown: {why}.")),
    }
    page.finish()
}

fn list(page: &mut Page, holders: &ResolutionHolders, with_names: bool) {
    for held in &holders.settings {
        let mut text = counted_processes(held.process_count);
        if with_names {
            text = format!("{text}: {}", held.names.join(", "));
        }
        page.hanging(&format!("  {:>8}", held.setting.to_string()), 12, &text);
    }
    if holders.unknown_count > 0 {
        page.paragraph(2, &format!("{} would not tell.", counted_processes(holders.unknown_count)));
    }
    if holders.settings.is_empty() && holders.unknown_count == 0 {
        page.paragraph(2, "No other process is to be seen from here.");
    }
    if !with_names && !holders.settings.is_empty() {
        page.paragraph(2, "--processes names them.");
    }
}

fn counted_processes(count: u64) -> String {
    format!("{} {}", grouped(count), if count == 1 { "process" } else { "processes" })
}
