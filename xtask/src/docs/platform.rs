//! The tables of `PLATFORM.md` that descriptions state: clocks, waits and hand-offs of each system, what zero means to
//! its waits and which slack applies.

use oversleep_system::{ClockInfo, ClockUnit, clocks, reference};

use super::Part;
use super::markdown::{cell, page_link, table};

const PAGE: &str = "PLATFORM.md";

pub fn parts() -> Vec<Part> {
    let part = |name, text| Part { path: PAGE, name, text };
    vec![
        part("zero-linux", reference::waits_by_zero("linux")),
        part("slack-linux", reference::waits_by_slack("linux")),
        part("zero-windows", reference::waits_by_zero("windows")),
        part("slack-windows", reference::waits_by_slack("windows")),
        part("zero-macos", reference::waits_by_zero("macos")),
        part("slack-macos", reference::waits_by_slack("macos")),
        part("clocks-linux", of_clocks("linux")),
        part("waits-linux", reference::waits("linux")),
        part("handoffs-linux", reference::handoffs("linux")),
        part("clocks-windows", of_clocks("windows")),
        part("waits-windows", reference::waits("windows")),
        part("handoffs-windows", reference::handoffs("windows")),
        part("clocks-macos", of_clocks("macos")),
        part("waits-macos", reference::waits("macos")),
        part("handoffs-macos", reference::handoffs("macos")),
    ]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_has_a_whole_row() {
        for os in ["linux", "windows", "macos"] {
            let text = of_clocks(os);
            assert_eq!(text.lines().count(), clocks::of(os).len() + 2);
            assert!(text.lines().all(|line| !line.contains("|  |")), "{text}");
        }
    }
}
