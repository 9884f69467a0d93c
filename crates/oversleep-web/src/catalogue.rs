//! The options of the page's controls: machines with their figures, and the questions for each.

use std::collections::{BTreeMap, BTreeSet};

use oversleep_lab::catalogue::{Entry, Kind};
use oversleep_lab::machines::{self, describe, names};
use oversleep_lab::records::runtimes;
use oversleep_report::listing::machines::document;
use oversleep_system::Family;
use serde_json::{Value, json};

/// Every machine with its title, the names of its waits and clocks, and its settings; and every call of a runtime that
/// has a record, with the systems of its records.
pub fn catalogue() -> Value {
    let machines: Value = names().iter().filter_map(|name| one(name)).collect();
    json!({ "machines": machines, "runtimes": calls_of_runtimes() })
}

fn calls_of_runtimes() -> Value {
    let mut calls: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for record in runtimes() {
        // `Thread.sleep(ms)` distinguishes forms of a call, which a question can't name.
        for name in record.names.iter().filter(|name| !name.contains('(')) {
            calls.entry((&record.runtime, name)).or_default().insert(&record.system);
        }
    }
    let call = |((runtime, name), systems)| json!({ "runtime": runtime, "name": name, "systems": systems });
    calls.into_iter().map(call).collect()
}

fn one(name: &str) -> Option<Value> {
    let lab = machines::load(name, &[], machines::SEED).ok()?;
    let names = |kind| lab.names(kind);
    // A yield takes no duration.
    let takes_a_duration = |entry: &&Entry| !entry.properties.contains(&("family", Family::Yield.name().to_owned()));
    let entries = lab.entries(Kind::Wait);
    let wait = |entry: &Entry| json!({ "name": entry.name, "call": entry.call });
    let waits: Vec<Value> = entries.iter().filter(takes_a_duration).map(wait).collect();
    Some(json!({
        "name": name,
        "title": describe(name, &[]).ok()?.title,
        "system": lab.platform_id().os,
        "waits": waits,
        "clocks": names(Kind::Clock),
        "tunables": names(Kind::Tunable),
        "loads": names(Kind::Load),
    }))
}

/// The figures of one machine, as `oversleep machines NAME --json` prints them.
///
/// # Errors
/// There is no such machine.
pub fn figures(name: &str) -> Result<Value, String> {
    describe(name, &[]).map(|machine| document(&machine)).map_err(|error| error.to_string())
}
