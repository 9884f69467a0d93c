//! The contents of `PLATFORM.md` for each system: the calls in its tables, by section. A call is in backquotes, in a
//! row that also states its first version and links its documentation.

use crate::arrows::is_in;
use crate::rust::is_word_char;

pub const PAGE: &str = "PLATFORM.md";

const LINUX: &[&str] = &[
    "Clocks",
    "Waits",
    "Hand-offs",
    "Tunables",
    "Load",
    "Counters",
    "Switch-in times",
    "Waits of other programs",
    "Facts",
    "Other calls",
    "Emulation",
    "The command",
    "Tests and benches",
];
const MACOS: &[&str] = &["The laboratory on macOS"];

/// The sections that describe a place; the first match counts. A call must be in one section of each group, so a call
/// that several systems compile is described for each of them.
const PLACES: &[(&str, &[&[&str]])] = &[
    ("crates/oversleep/src/sys/linux/", &[&["The library/Linux and Android"]]),
    ("crates/oversleep/src/sys/windows/", &[&["The library/Windows"]]),
    ("crates/oversleep/src/sys/macos", &[&["The library/macOS"]]),
    ("crates/oversleep/src/sys/", &[&["The library"]]),
    ("crates/oversleep-native/src/linux/", &[LINUX]),
    ("crates/oversleep-emulate/src/linux/", &[LINUX]),
    ("crates/oversleep-native/src/unix/", &[LINUX, MACOS]),
    ("crates/oversleep-native/src/macos/", &[MACOS]),
    ("crates/oversleep-native/src/windows/", &[&["The laboratory on Windows"]]),
];

/// The place of a file: its system in `PLACES`, or the crate that all systems share.
pub fn page_place(path: &str) -> &'static str {
    PLACES.iter().find(|(place, _)| is_in(path, &[place])).map_or("", |(place, _)| place)
}

/// One row of a table.
struct Row {
    /// Heading of the second level, and the third's behind a slash.
    section: String,
    names: Vec<String>,
    /// Whether it states a version and a page; tables without a column for them need not.
    is_complete: bool,
}

pub struct PlatformPage {
    rows: Vec<Row>,
}

/// The fault of the page for a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Lack {
    /// No row of these sections names it.
    Row(String),
    /// A row names it, without version or page.
    VersionOrPage,
}

impl PlatformPage {
    pub fn read(text: &str) -> PlatformPage {
        let (mut level2, mut section, mut columns) = (String::new(), String::new(), Vec::new());
        let mut rows = Vec::new();
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                level2 = heading.to_owned();
                section.clone_from(&level2);
            } else if let Some(heading) = line.strip_prefix("### ") {
                section = format!("{level2}/{heading}");
            } else if let Some(cells) = line.strip_prefix('|') {
                // `\|` is a character in a cell's text.
                let cells = cells.trim_end().trim_end_matches('|').replace("\\|", "/");
                let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
                if columns.is_empty() {
                    columns = cells.iter().map(|&cell| cell.to_owned()).collect();
                    continue;
                }
                // The version is in a column between the reason and the page.
                let has_page = columns.len() > 3 && columns.last().is_some_and(|column| column == "page");
                let (page, before) = cells.split_last().unwrap_or((&"", &[]));
                let has_version = before.iter().skip(2).any(|cell| !cell.is_empty());
                let is_complete = !has_page || (has_version && !page.is_empty() && cells.len() == columns.len());
                rows.push(Row { section: section.clone(), names: quoted_words(line), is_complete });
                continue;
            }
            columns.clear();
        }
        PlatformPage { rows }
    }

    /// The fault of the page for a call in the file at `path`; `on_linux_alone` if only Linux compiles the call.
    pub fn lack(&self, path: &str, name: &str, on_linux_alone: bool) -> Option<Lack> {
        let groups = PLACES.iter().find(|(place, _)| is_in(path, &[place])).map_or(&[][..], |(_, groups)| groups);
        let groups = if on_linux_alone { &groups[..groups.len().min(1)] } else { groups };
        let any: &[&[&str]] = &[&[""]];
        let groups = if groups.is_empty() { any } else { groups };
        groups.iter().find_map(|sections| {
            let is_here = |row: &&Row| sections.iter().any(|section| is_below(&row.section, section));
            let mut rows = self.rows.iter().filter(is_here).filter(|row| row.names.iter().any(|word| word == name));
            match rows.next() {
                None => Some(Lack::Row(sections.join(", "))),
                Some(row) if row.is_complete || rows.any(|row| row.is_complete) => None,
                Some(_) => Some(Lack::VersionOrPage),
            }
        })
    }
}

fn is_below(section: &str, within: &str) -> bool {
    within.is_empty() || section.strip_prefix(within).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The words in backquotes.
fn quoted_words(line: &str) -> Vec<String> {
    let quoted = line.split('`').skip(1).step_by(2);
    let words = quoted.flat_map(|code| code.split(|c| !is_word_char(c))).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
## Clocks
| call | what for | Linux | page |
|---|---|---|---|
| `nanosleep`, `poll` | plain pause | 2.6 | [usleep](https://man7.org) |
| `pause` | | | [page](https://man7.org) |

Prose names `kill` and `prctl`.
## The library
### Windows
| call | what for | Windows | page |
|---|---|---|---|
| `Sleep` | waits | NT | |
## The laboratory on macOS
| call or name | what for | macOS | page |
|---|---|---|---|
| `poll` | waits | 10.3 | same |
";

    #[test]
    fn only_backticks_of_rows_in_the_systems_own_section_name_a_call() {
        let page = PlatformPage::read(TEXT);
        let lack = |path: &str, name| page.lack(&format!("crates/oversleep-native/src/{path}"), name, false);
        let lacks_row = |path: &str, name| matches!(lack(path, name), Some(Lack::Row(_)));
        assert_eq!(lack("linux/a.rs", "nanosleep"), None);
        assert!(lacks_row("macos/a.rs", "nanosleep") && lacks_row("windows/a.rs", "nanosleep"));
        assert!(lacks_row("linux/a.rs", "usleep"), "the text of a link");
        assert!(lacks_row("linux/a.rs", "kill"), "prose");
        assert!(lacks_row("linux/a.rs", "plain"), "the reason");
        assert_eq!(lack("linux/a.rs", "pause"), Some(Lack::VersionOrPage));
        assert_eq!(page.lack("crates/oversleep/src/sys/windows/a.rs", "Sleep", false), Some(Lack::VersionOrPage));
        assert_eq!(lack("threads.rs", "poll"), None, "shared by all systems: any section");
    }

    #[test]
    fn what_every_unix_compiles_stands_with_each_of_them() {
        let text = TEXT.replace("## Clocks", "## Other calls");
        let page = PlatformPage::read(&text);
        let path = "crates/oversleep-native/src/unix/a.rs";
        assert_eq!(page.lack(path, "poll", false), None);
        assert_eq!(page.lack(path, "nanosleep", false), Some(Lack::Row("The laboratory on macOS".into())));
        assert_eq!(page.lack(path, "nanosleep", true), None);
    }
}
