//! One page per finding, and their index.

use oversleep_explain::{FindingEntry, RemedyEntry, Scope, Trial, registry};
use xtask_tools::markdown::{cell, code, head, paragraphs, prose, table};

use super::Page;

const SOURCE: &str = "crates/oversleep-explain/src/findings";

pub fn pages() -> Vec<Page> {
    let mut pages: Vec<Page> = registry().iter().map(|entry| page(entry)).collect();
    pages.push(index());
    pages
}

fn index() -> Page {
    let mut text = head(SOURCE);
    text.push_str(
        "# Findings\n\nA finding is a sentence about one machine, or about one observed program, that a result bears out, \
         or about the machines of a fleet, which an archive of results bears out. Every report checks all of them that fit \
         what was measured and says of each: found, checked and not found, or inconclusive with the reason. `oversleep \
         explain ID` prints one of these pages.\n",
    );
    for (letter, system) in [
        ("L", "Linux"),
        ("W", "Windows"),
        ("M", "macOS"),
        ("G", "Any system"),
        ("R", "Language runtimes"),
        ("Y", "Observed programs"),
        ("F", "Fleets"),
    ] {
        text.push_str(&format!("\n## {system}\n\n"));
        let here = registry().iter().filter(|entry| entry.id.starts_with(&format!("OVS-{letter}")));
        let row = |entry: &&FindingEntry| {
            let link = format!("[{0}]({0}.md)", entry.id);
            [link, entry.name.to_owned(), entry.severity.noun().to_owned(), cell(entry.summary)]
        };
        text.push_str(&table(["finding", "name", "severity", "summary"], here.map(row)));
    }
    Page { path: "docs/findings/README.md".to_owned(), text }
}

fn page(entry: &FindingEntry) -> Page {
    let mut text = head(SOURCE);
    text.push_str(&format!("# {} {}\n\n{}\n\n", entry.id, entry.name, prose(entry.summary)));
    text.push_str(&format!("- **Applies to:** {}\n", prose(entry.applies_to)));
    text.push_str(&format!("- **Severity:** {}, {}\n\n", entry.severity.noun(), entry.severity.meaning()));
    text.push_str(&paragraphs(entry.meaning));
    for (title, words) in [("How oversleep knows", entry.how_we_know), ("What to do", entry.what_to_do)] {
        text.push_str(&format!("\n\n## {title}\n\n{}", paragraphs(words)));
    }
    text.push('\n');
    if !entry.sources.is_empty() {
        text.push_str("\n## Sources\n\n");
    }
    for source in entry.sources {
        text.push_str(&format!("- <{source}>\n"));
    }
    if !entry.remedies.is_empty() {
        text.push_str("\n## Remedies\n");
    }
    for remedy in entry.remedies {
        text.push_str(&format!("\n### {}\n\n{} {}\n", remedy.id, prose(remedy.summary), prose(remedy.how)));
        text.push_str(&format!("\n{}\n", trial(entry, remedy)));
        if let Some(example) = remedy.example {
            text.push_str(&format!("\n{}", code("text", example)));
        }
    }
    text.push_str("\n[All findings](README.md)\n");
    Page { path: format!("docs/findings/{}.md", entry.id), text }
}

fn trial(entry: &FindingEntry, remedy: &RemedyEntry) -> String {
    let is_about_programs = matches!(entry.scope, Scope::Observed);
    match remedy.trial {
        Trial::Never(why) if is_about_programs => format!("`why` does not try it: {}.", prose(why)),
        Trial::Here { .. } if is_about_programs => {
            "`oversleep why --try` tries it on the program, and `check` on threads of its own.".to_owned()
        }
        Trial::Here { .. } => "`check` tries it and shows what it gains.".to_owned(),
        Trial::ByExperiment { experiment, .. } => {
            format!("Experiment [{experiment}](../experiments/{experiment}.md) measures what it gains.")
        }
        Trial::Never(why) => format!("`check` does not try it: {}.", prose(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_a_page_and_a_row() {
        let pages = pages();
        let index = pages.last().unwrap();
        for entry in registry() {
            let page = pages.iter().find(|page| page.path.ends_with(&format!("/{}.md", entry.id))).unwrap();
            assert!(page.text.contains(&prose(entry.summary)), "{}", entry.id);
            assert!(
                entry.remedies.iter().all(|remedy| page.text.contains(&format!("### {}\n", remedy.id))),
                "{}",
                entry.id
            );
            assert!(index.text.contains(&format!("[{0}]({0}.md)", entry.id)), "{}", entry.id);
        }
    }
}
