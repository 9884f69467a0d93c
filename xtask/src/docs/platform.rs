//! The tables of `PLATFORM.md` that descriptions state: clocks, waits, hand-offs, tunables and loads of each system, what
//! zero means to its waits and which slack applies.

use oversleep_system::{ClockInfo, ClockUnit, LoadInfo, Scope, TunableInfo, clocks, loads, reference, tunables};

use super::Part;
use super::markdown::{cell, page_link, table};

const PAGE: &str = "PLATFORM.md";

pub fn parts() -> Vec<Part> {
    let of_system = |os: &'static str| {
        [
            ("zero", reference::waits_by_zero(os)),
            ("slack", reference::waits_by_slack(os)),
            ("clocks", of_clocks(os)),
            ("waits", reference::waits(os)),
            ("handoffs", reference::handoffs(os)),
            ("tunables", of_tunables(os)),
            ("loads", of_loads(os)),
        ]
        .map(|(kind, text)| Part { path: PAGE, name: format!("{kind}-{os}"), text })
    };
    ["linux", "windows", "macos"].into_iter().flat_map(of_system).collect()
}

fn of_clocks(os: &str) -> String {
    let row = |info: &ClockInfo| {
        let call = format!("`{}`", info.call).replace('|', "\\|");
        let since = info.architecture.map_or(info.since, |only| if info.since.is_empty() { only } else { info.since });
        // The command spells it as it is typed.
        let unit = if info.unit == ClockUnit::Microseconds { "µs" } else { info.unit.name() };
        [format!("`{}`", info.name), call, cell(info.doc), unit.to_owned(), cell(since), page_link(info.page)]
    };
    table(["clock", "call", "what it is", "unit", "since", "page"], clocks::of(os).iter().map(row))
}

fn of_tunables(os: &str) -> String {
    let row = |info: &TunableInfo| {
        let reaches = match info.scope {
            Scope::Thread => "the thread",
            Scope::Process => "the process",
            Scope::MachineWhileHeld => "the machine, while held",
        };
        let call = format!("`{}`", info.call).replace('|', "\\|");
        [format!("`{}`", info.name), call, cell(info.doc), reaches.to_owned(), cell(info.since), page_link(info.page)]
    };
    table(["tunable", "call", "what it does", "reaches", "since", "page"], tunables::of(os).iter().map(row))
}

fn of_loads(os: &str) -> String {
    let row = |info: &LoadInfo| [format!("`{}`", info.name), cell(info.doc)];
    table(["load", "what it does"], loads::of(os).iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_has_a_whole_row() {
        for os in ["linux", "windows", "macos"] {
            let counts = [clocks::of(os).len(), tunables::of(os).len(), loads::of(os).len()];
            for (text, count) in [of_clocks(os), of_tunables(os), of_loads(os)].iter().zip(counts) {
                assert_eq!(text.lines().count(), count + 2);
                assert!(text.lines().all(|line| !line.contains("|  |")), "{text}");
            }
        }
    }
}
