//! How many there are of everything, for the README and `ARCHITECTURE.md`.

use super::Part;
use super::markdown::table;
use crate::tidy::Tree;

pub fn parts(tree: &Tree) -> Vec<Part> {
    vec![Part { path: "README.md", name: "counts", text: counts(tree) }]
}

fn counts(tree: &Tree) -> String {
    let files = |directory: &str, end: &str| {
        tree.files().filter(|file| file.path.starts_with(directory) && file.path.ends_with(end)).count()
    };
    let rows = [
        (oversleep_measure::registry().len(), "experiments", "docs/experiments/README.md"),
        (oversleep_explain::registry().len(), "findings", "docs/findings/README.md"),
        (files("crates/oversleep-model/profiles/", ".toml"), "modelled machines", "docs/guide.md#modelled-machines"),
    ];
    table(["count", "what"], rows.map(|(count, what, page)| [count.to_string(), format!("[{what}]({page})")]))
}
