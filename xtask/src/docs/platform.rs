//! The tables of `docs/platform/`: the calls to each system, from `xtask/platform/`, and the clocks, waits, hand-offs,
//! tunables and loads, the meaning of zero and the slack of waits, from their descriptions.

use oversleep_system::reference;
use xtask_tools::markdown;
use xtask_tools::platform::{self, Row, Table};

use super::Part;
use crate::tree::Tree;

/// The pages, by the first part of a table's name.
const PAGES: &[(&str, &str)] = &[
    ("library", "docs/platform/library.md"),
    ("linux", "docs/platform/linux.md"),
    ("emulation", "docs/platform/emulation.md"),
    ("windows", "docs/platform/windows.md"),
    ("macos", "docs/platform/macos.md"),
    ("command", "docs/platform/command.md"),
];
/// Where the others have no place, so that the chore says so.
const INDEX: &str = "PLATFORM.md";

pub fn parts(tree: &Tree) -> Vec<Part> {
    let of_system = |os: &'static str| {
        [
            ("zero", reference::waits_by_zero(os)),
            ("slack", reference::waits_by_slack(os)),
            ("clocks", reference::clocks(os)),
            ("waits", reference::waits(os)),
            ("handoffs", reference::handoffs(os)),
            ("tunables", reference::tunables(os)),
            ("loads", reference::loads(os)),
        ]
        .map(|(kind, text)| Part { path: page(os), name: format!("{kind}-{os}"), text })
    };
    // A file with a fault is reported by `tidy`; its table stays as it is.
    let calls = platform::read(tree.texts()).0.into_iter().map(|table| Part {
        path: page(&table.name),
        name: format!("calls {}", table.name),
        text: calls(&table),
    });
    ["linux", "windows", "macos"].into_iter().flat_map(of_system).chain(calls).collect()
}

fn page(table: &str) -> &'static str {
    let page = table.split('/').next();
    PAGES.iter().find(|(name, _)| Some(*name) == page).map_or(INDEX, |(_, path)| path)
}

fn calls(table: &Table) -> String {
    let since = table.versions.as_deref().unwrap_or("since");
    let kind = table.kind.as_deref().unwrap_or("call or file");
    let row = |row: &Row| {
        let pages: Vec<String> = row.pages().map(link).collect();
        [row.sentence(), row.why.clone(), row.since.clone(), pages.join(", ")].map(|cell| cell.replace('|', "\\|"))
    };
    let rows = table.rows.iter().map(row);
    match &table.lists {
        None => markdown::table([kind, "what for", since, "page"], rows),
        Some(what) => {
            markdown::table([what, kind, since, "page"], rows.map(|[call, why, since, page]| [why, call, since, page]))
        }
    }
}

fn link((title, address): (Option<&str>, &str)) -> String {
    title.map_or_else(|| reference::page(address), |title| format!("[{title}]({address})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_row_per_use() {
        let row = "[[call]]\nnames = [\"a(B | C)\"]\nwhy = \"d\"\nsince = \"2.6\"\npages = [\"https://e.f/g.2.html\", \"H https://i\"]\n";
        let parts = |text: &str| parts(&Tree::of(&[("xtask/platform/linux/x.toml", text)]));
        let part = parts(&format!("versions = \"Linux\"\n{row}")).pop().unwrap();
        assert_eq!((part.path, part.name.as_str()), ("docs/platform/linux.md", "calls linux/x"));
        let cells = "| 2.6 | [g.2](https://e.f/g.2.html), [H](https://i) |\n";
        let expected =
            format!("| call or file | what for | Linux | page |\n|---|---|---|---|\n| `a(B \\| C)` | d {cells}");
        assert_eq!(part.text, expected);
        let listed = parts(&format!("versions = \"Linux\"\nlists = \"fact\"\n{row}")).pop().unwrap();
        assert!(listed.text.starts_with("| fact | call or file |"), "{}", listed.text);
        assert!(listed.text.ends_with(&format!("| d | `a(B \\| C)` {cells}")), "{}", listed.text);
    }
}
