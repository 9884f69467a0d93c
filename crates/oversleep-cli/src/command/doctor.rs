//! `doctor`: what may be seen and changed here, and how to allow more.

use clap::Args;
use oversleep_lab::Laboratory;
use oversleep_lab::catalogue::{Entry, Kind};
use oversleep_system::Ability;
use serde_json::{Value, json};

use super::registry;
use super::resolution::wine_answers;
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request::conditions::OPTIONS;
use crate::width::width;
use oversleep_report::listing::{FAINT, GOOD, MISSING, Page, STRONG};

/// Say what may be seen and changed here, and how to allow more
///
/// Nothing is measured and nothing is left changed.
#[derive(Args, Debug)]
pub struct Doctor {
    /// As one JSON document, with every fact known about the machine
    #[arg(long)]
    json: bool,
}

impl Doctor {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let lab = Laboratory::on(oversleep_native::here());
        let (abilities, tunables) = (lab.abilities(), lab.entries(Kind::Tunable));
        if self.json {
            stdout::json(&json!({
                "platform": lab.platform_id(),
                "abilities": abilities.iter().map(document).collect::<Vec<Value>>(),
                "tunables": tunables.iter().map(registry::document).collect::<Vec<Value>>(),
                "environment": lab.environment(),
            }))?;
        } else {
            stdout::text(&page(&lab, &abilities, &tunables))?;
        }
        Ok(Exit::Fine)
    }
}

fn document(ability: &Ability) -> Value {
    match &ability.state {
        Ok(how) => json!({ "name": ability.name, "gives": ability.gives, "present": true, "how": how }),
        Err(why) => json!({ "name": ability.name, "gives": ability.gives, "present": false, "why": why }),
    }
}

fn page(lab: &Laboratory, abilities: &[Ability], tunables: &[Entry]) -> String {
    let mut page = Page::new(width());
    let (id, environment) = (lab.platform_id(), lab.environment());
    page.line(&format!("{STRONG}{} on {}, {} CPUs to use{STRONG:#}", id.os, id.arch, lab.cpu_count()));
    if let Some(warning) = wine_answers(&environment) {
        page.paragraph(2, &warning);
    }
    let present: Vec<&Ability> = abilities.iter().filter(|ability| ability.state.is_ok()).collect();
    let missing: Vec<&Ability> = abilities.iter().filter(|ability| ability.state.is_err()).collect();
    if !present.is_empty() {
        page.heading("What this process can see and do");
    }
    for ability in present {
        let Ok(how) = &ability.state else { continue };
        page.line(&format!("  {GOOD}yes{GOOD:#}  {STRONG}{}{STRONG:#}", ability.name));
        page.paragraph(7, &format!("{} · {how}", ability.gives));
    }
    if !missing.is_empty() {
        page.heading("What it can't, and how to allow it");
    }
    for ability in missing {
        let Err(why) = &ability.state else { continue };
        page.line(&format!("  {MISSING}no{MISSING:#}   {STRONG}{}{STRONG:#}", ability.name));
        page.paragraph(7, &ability.gives);
        page.paragraph(7, &why.to_string());
    }
    page.heading("What can be changed while something is measured, and its value now");
    for tunable in tunables {
        let now = property(tunable, "now");
        let dashes = if OPTIONS.contains(&tunable.name) { "--" } else { "--tune " };
        page.line(&format!("  {STRONG}{dashes}{}{STRONG:#}  now {now}", tunable.name));
        page.paragraph(7, tunable.doc);
        page.line(&format!("       {FAINT}{}{FAINT:#}", tunable.call));
        page.paragraph(7, &format!("Changed, {}.", property(tunable, "reaches")));
    }
    let unknown: Vec<String> = environment.unknown().map(|(name, reason)| format!("{name}: {reason}")).collect();
    if !unknown.is_empty() {
        page.heading("What could not be learned about the machine");
        for line in unknown {
            page.hanging("  ", 4, &line);
        }
    }
    page.gap();
    page.paragraph(0, "What is missing makes a report say less; it never makes one fail.");
    page.finish()
}

fn property<'a>(entry: &'a Entry, name: &str) -> &'a str {
    entry.properties.iter().find(|(property, _)| *property == name).map_or("unknown", |(_, value)| value)
}
