//! The list of waits: the properties of each that decide when it ends. The catalogue has them in words, which are
//! parsed only here.

use oversleep_lab::catalogue::Entry;
use oversleep_record::Nanos;

use crate::stream::{Part, Stream};

/// Every wait of a machine in the list's order.
pub fn part(entries: &[Entry]) -> Part {
    let mut stream = Stream::default();
    for entry in entries {
        stream.line("wait").put(entry.name).all(properties(entry));
    }
    Part::new("waits", stream, entries.len(), "waits")
}

/// Family, argument, granularity in ns and rounding, the meaning of zero, the rule of its slack: words that stay the
/// same whatever the catalogue says.
fn properties(entry: &Entry) -> [String; 6] {
    let property = |name| {
        let named = entry.properties.iter().find(|(property, _)| *property == name);
        named.map_or_else(|| panic!("{} has no {name}", entry.name), |(_, value)| value.as_str())
    };
    let (what, unit) = property("takes").split_once(" in ").unwrap_or(("nothing", "ns"));
    let (step, rounds) = unit.split_once(", rounded ").unwrap_or((unit, "exact"));
    let step = step.strip_prefix("units of ").map_or_else(|| format!("1{step}"), str::to_owned);
    let step: Nanos = step.parse().unwrap_or_else(|error| panic!("{}: {error}", entry.name));
    let zero = match property("zero") {
        "returns at once" => "at-once",
        "sleeps as briefly as it can" => "slack",
        "yields" => "yield",
        "disarms: never ends" => "disarm",
        "waits forever" => "for-ever",
        "takes no duration" => "none",
        other => panic!("{}: zero {other}; give it a word here", entry.name),
    };
    let slack = match property("slack") {
        "thread's slack" => "thread",
        "thread's slack, or 0.1 % of the timeout" => "thread-or-share",
        "none" => "none",
        "next tick" => "tick",
        "next timer interrupt" => "timer-interrupt",
        "a share by service class" => "class-share",
        "a share, whatever the class" => "kernel-share",
        "no timer" => "no-timer",
        "as the waits it makes" => "composed",
        other => panic!("{}: slack {other}; give it a word here", entry.name),
    };
    [property("family"), what, &step.0.to_string(), rounds, zero, slack].map(str::to_owned)
}
