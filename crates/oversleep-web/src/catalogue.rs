//! What the controls of the page offer: machines with their figures, and what can be asked of each.

use oversleep_lab::catalogue::Kind;
use oversleep_lab::machines::{self, describe, names};
use oversleep_report::listing::machines::document;
use serde_json::{Value, json};

/// Every machine with its title, the names of its waits and clocks, and its settings.
pub fn machines() -> Value {
    names().iter().filter_map(|name| one(name)).collect()
}

fn one(name: &str) -> Option<Value> {
    let lab = machines::load(name, &[], machines::SEED).ok()?;
    let names = |kind| lab.names(kind);
    let waits: Vec<Value> =
        lab.entries(Kind::Wait).iter().map(|entry| json!({ "name": entry.name, "call": entry.call })).collect();
    Some(json!({
        "name": name,
        "title": describe(name, &[]).ok()?.title,
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
