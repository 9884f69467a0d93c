//! The parts of the project for `docs/README.md` and `ARCHITECTURE.md`: counts, and the crates.

use xtask_tools::markdown::table;

use super::Part;
use crate::arrows::{CRATES, CrateRules};
use crate::tree::Tree;

pub fn parts(tree: &Tree) -> Vec<Part> {
    vec![
        Part { path: "docs/README.md", name: "counts".to_owned(), text: counts(tree) },
        Part { path: "ARCHITECTURE.md", name: "crates".to_owned(), text: crates() },
    ]
}

fn counts(tree: &Tree) -> String {
    let files = |directory: &str, end: &str| {
        tree.files().filter(|file| file.path.starts_with(directory) && file.path.ends_with(end)).count()
    };
    let rows = [
        (oversleep_measure::registry().len(), "experiments", "experiments/README.md"),
        (oversleep_explain::registry().len(), "findings", "findings/README.md"),
        (files("crates/oversleep-model/profiles/", ".toml"), "modelled machines", "guide.md#modelled-machines"),
    ];
    table(["count", "what"], rows.map(|(count, what, page)| [count.to_string(), format!("[{what}]({page})")]))
}

/// The allowed dependencies of each crate, from `arrows.rs`.
fn crates() -> String {
    let row = |rules: &CrateRules| {
        let names = |list: &[&str]| match list {
            [] => "–".to_owned(),
            list => list.iter().map(|name| name.trim_start_matches("oversleep-")).collect::<Vec<_>>().join(", "),
        };
        let pure = if rules.is_pure { "yes" } else { "–" };
        [format!("`{}`", rules.name), names(rules.ours), names(rules.ours_in_tests), pure.to_owned()]
    };
    table(["crate", "may use", "and in tests", "pure"], CRATES.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_listed_with_what_it_may_use() {
        let table = crates();
        assert!(table.contains("| `oversleep-measure` | oversleep, record, system | model, native | yes |"), "{table}");
        assert!(table.contains("| `oversleep` | – | – | – |"), "{table}");
    }

    #[test]
    fn profiles_are_counted_by_their_files() {
        let tree =
            Tree::of(&[("crates/oversleep-model/profiles/a.toml", ""), ("crates/oversleep-model/profiles/b.md", "")]);
        assert!(counts(&tree).contains("| 1 | [modelled machines]"), "{}", counts(&tree));
    }
}
