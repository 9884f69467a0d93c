//! Which tables must name the calls of a place: those of `xtask/platform/`, and what the descriptions of a system's
//! clocks, waits and tunables name as their calls.

use std::collections::BTreeSet;

use oversleep_system::{clocks, tunables, waits};
use xtask_tools::platform::Table;

use crate::arrows::is_in;
use crate::rust::is_word_char;

const LINUX: &[&str] = &["linux/", "command/"];
const MACOS: &[&str] = &["macos/"];

/// The tables that describe a place; the first match counts. A call must be in one table of each group, so a call that
/// several systems compile is described for each of them.
const PLACES: &[(&str, &[&[&str]])] = &[
    ("crates/oversleep/src/sys/linux/", &[&["library/linux"]]),
    ("crates/oversleep/src/sys/windows/", &[&["library/windows"]]),
    ("crates/oversleep/src/sys/macos", &[&["library/macos"]]),
    ("crates/oversleep/src/sys/", &[&["library/"]]),
    ("crates/oversleep-native/src/linux/", &[LINUX]),
    ("crates/oversleep-emulate/src/linux/", &[&["emulation/", "linux/"]]),
    ("crates/oversleep-native/src/unix/", &[LINUX, MACOS]),
    ("crates/oversleep-native/src/macos/", &[MACOS]),
    ("crates/oversleep-native/src/windows/", &[&["windows/"]]),
];

/// The place of a file: its system in `PLACES`, or the crate that all systems share.
pub fn place(path: &str) -> &'static str {
    PLACES.iter().find(|(place, _)| is_in(path, &[place])).map_or("", |(place, _)| place)
}

/// The names in each table.
pub struct CallTables(Vec<(String, BTreeSet<String>)>);

impl CallTables {
    pub fn new(tables: &[Table]) -> Self {
        let calls = |table: &Table| table.rows.iter().flat_map(|row| row.calls()).map(str::to_owned).collect();
        let written = tables.iter().map(|table| (table.name.clone(), calls(table)));
        let described = ["linux", "windows", "macos"].map(|os| {
            let waits = waits::of(os).iter().map(|info| info.call);
            let clocks = clocks::of(os).iter().map(|info| info.call);
            let calls = waits.chain(clocks).chain(tunables::of(os).iter().map(|info| info.call));
            (format!("{os}/"), calls.flat_map(|call| call.split(|c| !is_word_char(c))).map(str::to_owned).collect())
        });
        Self(written.chain(described).collect())
    }

    /// The tables of which none names a call that the file at `path` makes; `on_linux_alone` if only Linux compiles it.
    pub fn lack(&self, path: &str, name: &str, on_linux_alone: bool) -> Option<&'static [&'static str]> {
        let groups = PLACES
            .iter()
            .find(|(place, _)| is_in(path, &[place]))
            .map_or(&[&[""] as &[_]] as &[_], |(_, groups)| groups);
        let groups = if on_linux_alone { &groups[..1] } else { groups };
        let number = format!("SYS_{name}");
        let is_named = |names: &BTreeSet<String>| names.contains(name) || names.contains(&number);
        groups.iter().copied().find(|group| !self.0.iter().any(|(table, names)| is_in(table, group) && is_named(names)))
    }
}
