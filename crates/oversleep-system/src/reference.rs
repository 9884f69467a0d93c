//! The reference tables of the documentation, as Markdown, generated from the descriptions.

use std::fmt::Write;

use crate::{
    HandoffInfo, LoadInfo, SlackRule, TunableInfo, WaitInfo, ZeroMeans, clocks, handoffs, loads, tunables, waits,
};

/// The clocks of a system, a row each: name, call, doc, unit, source, across suspend, version, page.
pub fn clocks(os: &str) -> String {
    let head = "| clock | call | what it is | unit | its steps | across suspend | since | page |";
    let mut table = format!("{head}\n|---|---|---|---|---|---|---|---|\n");
    for info in clocks::of(os) {
        let since = info.architecture.map_or(info.since.to_owned(), |only| format!("{only}, {}", info.since));
        row(
            &mut table,
            &[
                &format!("`{}`", info.name),
                &code(info.call),
                info.doc,
                info.unit.symbol(),
                info.follows.words(),
                info.across_suspend.words(),
                &since,
                &page(info.page),
            ],
        );
    }
    table
}

/// The tunables of a system, a row each: name, call, doc, accepted settings, scope, version, page.
pub fn tunables(os: &str) -> String {
    let head = "| tunable | call | what it does | settings | reaches | since | page |";
    let mut table = format!("{head}\n|---|---|---|---|---|---|---|\n");
    for &TunableInfo { name, call, doc, expected, scope, since, page: address, .. } in tunables::of(os) {
        let cells = [&format!("`{name}`"), &code(call), doc, expected, scope.words(), since, &page(address)];
        row(&mut table, &cells);
    }
    table
}

/// The kinds of load of a system, a row each.
pub fn loads(os: &str) -> String {
    let mut table = "| load | what it does |\n|---|---|\n".to_owned();
    for LoadInfo { name, doc, .. } in loads::of(os) {
        row(&mut table, &[&format!("`{name}`"), doc]);
    }
    table
}

/// The waits of a system, a row each: name, call, argument, zero, slack, version, page.
pub fn waits(os: &str) -> String {
    let mut table = "| wait | call | takes | zero | slack | since | page |\n|---|---|---|---|---|---|---|\n".to_owned();
    for info in waits::of(os) {
        row(
            &mut table,
            &[
                &format!("`{}`", info.name),
                &code(info.call),
                &info.takes_words(),
                info.zero.words(),
                info.slack.words(),
                info.since,
                &page(info.page),
            ],
        );
    }
    table
}

/// The waits of a system by what an argument of zero does.
pub fn waits_by_zero(os: &str) -> String {
    use ZeroMeans::{Disarms, NoArgument, ReturnsAtOnce, SleepsShortest, WaitsForEver, Yields};
    let groups = [ReturnsAtOnce, SleepsShortest, Yields, Disarms, WaitsForEver, NoArgument];
    grouped(os, "zero", groups.map(|zero| (zero.words(), move |info: &WaitInfo| info.zero == zero)))
}

/// The waits of a system by the deliberate delay that applies.
pub fn waits_by_slack(os: &str) -> String {
    use SlackRule::{ClassShare, KernelShare, NoTimer, None, OfItsWaits};
    use SlackRule::{ThreadSlack, ThreadSlackOrShare, Tick, TimerResolution};
    let groups =
        [ThreadSlack, ThreadSlackOrShare, Tick, TimerResolution, ClassShare, KernelShare, None, NoTimer, OfItsWaits];
    grouped(os, "slack", groups.map(|slack| (slack.rule(), move |info: &WaitInfo| info.slack == slack)))
}

/// The hand-offs of a system, a row each.
pub fn handoffs(os: &str) -> String {
    let mut table = "| hand-off | calls | since | page |\n|---|---|---|---|\n".to_owned();
    for HandoffInfo { name, call, since, page: address, .. } in handoffs::of(os) {
        row(&mut table, &[&format!("`{name}`"), call, since, &page(address)]);
    }
    table
}

/// A row per group that has members, under a head of two columns.
fn grouped<const N: usize>(os: &str, head: &str, groups: [(&str, impl Fn(&WaitInfo) -> bool); N]) -> String {
    let mut table = format!("| {head} | waits |\n|---|---|\n");
    for (words, is_member) in groups {
        let members = waits::of(os).iter().filter(|info| is_member(info));
        let names: Vec<String> = members.map(|info| format!("`{}`", info.name)).collect();
        if !names.is_empty() {
            row(&mut table, &[words, &names.join(", ")]);
        }
    }
    table
}

fn row(table: &mut String, cells: &[&str]) {
    // Writing to a string can't fail. A bar inside a cell would end the cell.
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(table, "| {} |", cells.join(" | "));
}

fn code(call: &str) -> String {
    format!("`{call}`")
}

/// A link whose text is the last part of the address, which is the page's own name. Microsoft's pages begin with the kind
/// of page and the header.
pub fn page(address: &str) -> String {
    let last = address.trim_end_matches(".html").rsplit('/').find(|part| !part.starts_with('_')).unwrap_or(address);
    let name = last.strip_prefix("nf-").and_then(|rest| rest.split_once('-')).map_or(last, |(_, function)| function);
    format!("[{name}]({address})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wait_has_a_row_and_stands_in_one_group() {
        for os in ["linux", "windows", "macos"] {
            let count = waits::of(os).len();
            assert_eq!(waits(os).lines().count(), count + 2);
            assert_eq!(handoffs(os).lines().count(), handoffs::of(os).len() + 2);
            for table in [waits_by_zero(os), waits_by_slack(os)] {
                for info in waits::of(os) {
                    let name = format!("`{}`", info.name);
                    assert_eq!(table.split(['|', ',']).filter(|cell| cell.trim() == name).count(), 1, "{os} {name}");
                }
            }
        }
    }

    #[test]
    fn every_clock_tunable_and_load_has_a_whole_row() {
        for os in ["linux", "windows", "macos"] {
            let counts = [clocks::of(os).len(), tunables::of(os).len(), loads::of(os).len()];
            for (table, count) in [clocks(os), tunables(os), loads(os)].iter().zip(counts) {
                assert_eq!(table.lines().count(), count + 2);
                assert!(table.lines().all(|line| !line.contains("|  |")), "{table}");
            }
        }
        let coarse = "| `realtime-coarse` | `clock_gettime(CLOCK_REALTIME_COARSE)` | Time of day as of the last tick, in steps \
                      of 1/HZ: good enough for log lines. | ns | the kernel's tick, 1/HZ | continues | \
                      Linux 2.6.32 | [clock_gettime.2](https://man7.org/linux/man-pages/man2/clock_gettime.2.html) |";
        assert!(clocks("linux").lines().any(|line| line == coarse), "{}", clocks("linux"));
    }

    #[test]
    fn a_row_says_what_the_description_says() {
        let poll = "| `poll` | `poll(NULL, 0, timeout)` | a span in ms, rounded up | returns at once | thread's slack, or \
                    0.1 % of the timeout | Linux 2.2 | [poll.2](https://man7.org/linux/man-pages/man2/poll.2.html) |";
        assert!(waits("linux").lines().any(|line| line == poll), "{}", waits("linux"));
        assert!(waits("macos").contains("NOTE_NSECONDS \\| NOTE_CRITICAL"), "a bar in a call ends no cell");
    }
}
