//! One page per experiment, and their index.

use oversleep_measure::{Experiment, registry};
use xtask_tools::markdown::{cell, code, head, paragraphs, prose, table};

use super::Page;

const SOURCE: &str = "crates/oversleep-measure/src/experiments";

pub fn pages() -> Vec<Page> {
    let mut pages: Vec<Page> = registry().iter().copied().map(page).collect();
    pages.push(index());
    pages
}

fn index() -> Page {
    let mut text = head(SOURCE);
    text.push_str(
        "# Experiments\n\nAn experiment answers one question about a machine. `oversleep check` runs them, \
         `oversleep check --only B5,C1` runs some of them, and `oversleep experiments ID` prints one of these pages. \
         A: clocks. B: waits. C: timer resolution and power. D: threads.\n\n",
    );
    let row = |one: &&Experiment| [format!("[{0}]({0}.md)", one.id), cell(one.title), cell(one.question)];
    text.push_str(&table(["experiment", "title", "question"], registry().iter().map(row)));
    Page { path: "docs/experiments/README.md".to_owned(), text }
}

fn page(one: &Experiment) -> Page {
    let mut text = head(SOURCE);
    text.push_str(&format!("# {} {}\n\n{}\n", one.id, prose(one.title), prose(one.question)));
    text.push_str(&format!("\n## Method\n\n{}\n", paragraphs(one.method)));
    if !one.reads.is_empty() {
        let links: Vec<String> = one.reads.iter().map(|id| format!("[{id}]({id}.md)")).collect();
        text.push_str(&format!("\nIt reads what {} measured, so a run includes them.\n", links.join(", ")));
    }
    if !one.columns.is_empty() {
        text.push_str("\n## Columns\n\n");
        let row = |column: &oversleep_measure::Column| [cell(column.name), cell(column.meaning)];
        text.push_str(&table(["column", "meaning"], one.columns.iter().map(row)));
    }
    let published = "`oversleep experiments ID` lists what others published about this, and reports show each figure beside \
                     the one here. [All published figures](../published.md)\n";
    text.push_str(&format!("\n## Published by others\n\n{}", published.replace("ID`", &format!("{}`", one.id))));
    let commands = one.commands.iter().map(|command| format!("$ {}\n", command.typed()));
    let typed: String = commands.chain([format!("$ oversleep check --only {}", one.id)]).collect();
    text.push_str(&format!("\n## Run it\n\n{}", code("console", &typed)));
    text.push_str("\n[All experiments](README.md)\n");
    Page { path: format!("docs/experiments/{}.md", one.id), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_a_page_with_its_method_and_a_row() {
        let pages = pages();
        let index = pages.last().unwrap();
        for one in registry() {
            let page = pages.iter().find(|page| page.path.ends_with(&format!("/{}.md", one.id))).unwrap();
            assert!(page.text.contains(&paragraphs(one.method)), "{}", one.id);
            assert!(one.reads.iter().all(|id| page.text.contains(&format!("[{id}]({id}.md)"))), "{}", one.id);
            assert!(index.text.contains(&format!("[{0}]({0}.md)", one.id)), "{}", one.id);
        }
    }
}
