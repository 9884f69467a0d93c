//! A comparison as a page.

use std::io::{self, Write};

use super::cards;
use super::markup::Markup;
use super::tables::{ROWS_OPEN, draw, first_open, folded};
use crate::view::comparison::View;
use crate::view::table::Section;

/// The page of a view.
///
/// # Errors
/// Those of `out`.
pub fn page_of(view: &View, out: &mut dyn Write) -> io::Result<()> {
    let title = format!("{}{}", view.title, view.marks);
    let mark = view.marks.trim().trim_start_matches('(').trim_end_matches(')');
    let has_bars = view.sections.iter().flat_map(|section| &section.tables).any(|table| !table.parts().is_empty());
    let rules = if has_bars { super::observed::rules_of_bars() } else { String::new() };
    super::page(&title, &rules, out, |m| {
        let first = if has_conclusion(view) { "Skip to the conclusion" } else { "Skip to the tables" };
        m.leaf("a", &[("class", "skip"), ("href", "#main")], first);
        m.element("header", &[], |m| m.element("div", &[("class", "wide")], |m| top(m, view)));
        super::contents(m, Some(mark).filter(|mark| !mark.is_empty()), &places(view));
        m.element("main", &[("id", "main"), ("class", "wide")], |m| body(m, view));
    })
}

fn has_conclusion(view: &View) -> bool {
    view.has_conclusion() || !view.headlines.is_empty()
}

/// The parts of the page: the id of each and its name.
fn places(view: &View) -> Vec<(String, String)> {
    let conclusion = has_conclusion(view).then_some(("conclusion", "Conclusion"));
    let pictures = (!view.pictures.is_empty()).then_some(("pictures", "Pictures"));
    let named = conclusion.into_iter().chain(pictures).map(|(id, name)| (id.to_owned(), name.to_owned()));
    let titles: Vec<&str> = view.sections.iter().map(|section| section.title.as_str()).collect();
    let sections = view.sections.iter();
    let sections = sections.map(|section| (format!("section-{}", section.id), short(&section.title, &titles)));
    named.chain(sections).collect()
}

/// A title without what it says behind a colon, where no other begins like it: the bar stays in sight and must be low.
fn short(title: &str, all: &[&str]) -> String {
    let begin = |title: &str| title.split(':').next().unwrap_or_default().to_owned();
    let alike = all.iter().filter(|other| begin(other) == begin(title)).count();
    if alike == 1 { begin(title) } else { title.to_owned() }
}

fn top(m: &mut Markup, view: &View) {
    m.leaf("h1", &[], &view.title);
    if !has_conclusion(view) {
        warnings(m, view);
    }
    for (name, machine) in &view.results {
        m.element("p", &[], |m| {
            if !name.is_empty() {
                m.leaf("strong", &[], name);
                m.text(": ");
            }
            m.text(machine);
        });
    }
    super::theme(m);
}

fn lead(m: &mut Markup, sentence: &str) {
    m.element("p", &[("class", "lead")], |m| m.prose(sentence));
}

/// What must not be concluded.
fn warnings(m: &mut Markup, view: &View) {
    for warning in &view.warnings {
        m.element("p", &[("class", "warning"), ("role", "note")], |m| m.prose(warning));
    }
}

fn body(m: &mut Markup, view: &View) {
    let (facts, sections): (Vec<_>, Vec<_>) = view.sections.iter().partition(|section| section.id == "facts");
    if has_conclusion(view) {
        m.element("section", &[("id", "conclusion"), ("aria-labelledby", "conclusion-heading")], |m| {
            m.leaf("h2", &[("id", "conclusion-heading")], "Conclusion");
            if !view.headlines.is_empty() {
                cards::boxes(m, view.headlines.iter().map(|one| (one, "")));
            }
            cards::of_fleet(m, &view.found);
            // What changed stands beside what differs.
            m.element("div", &[("class", "concluded")], |m| {
                m.element("div", &[], |m| {
                    // Headlines say what differs most. What limits the conclusion stands directly below it.
                    let has_headlines = !view.headlines.is_empty();
                    let most: Vec<&String> = view.most.iter().filter(|_| !has_headlines).collect();
                    // The first sentences hold each result against the base.
                    let against =
                        if has_headlines || !most.is_empty() { 0 } else { view.results.len().saturating_sub(1) };
                    let (first, rest) = view.summary.split_at(against.min(view.summary.len()));
                    most.into_iter().chain(first).for_each(|sentence| lead(m, sentence));
                    warnings(m, view);
                    rest.iter().for_each(|sentence| lead(m, sentence));
                });
                facts.iter().for_each(|section| drawn(m, section));
            });
        });
    } else {
        facts.iter().for_each(|section| drawn(m, section));
    }
    if !view.text.is_empty() {
        m.element("section", &[], |m| m.leaf("pre", &[("class", "text")], &view.text));
    }
    gallery(m, view);
    sections.into_iter().for_each(|section| drawn(m, section));
}

fn drawn(m: &mut Markup, section: &Section) {
    let (id, heading) = (format!("section-{}", section.id), format!("heading-{}", section.id));
    m.element("section", &[("id", &id), ("aria-labelledby", &heading)], |m| {
        m.leaf("h2", &[("id", &heading)], &section.title);
        m.element("div", &[("class", "tables")], |m| {
            for table in &section.tables {
                match table.rows.len() > ROWS_OPEN {
                    true if section.id == "unmatched" => folded(m, table),
                    true if table.rows_brief > 0 => first_open(m, table),
                    _ => draw(m, table, ""),
                }
            }
        });
        section.notes.iter().for_each(|note| m.element("p", &[("class", "quiet any")], |m| m.prose(note)));
    });
}

/// The pictures of all results, each kind in a row, so that the same picture of two results stands side by side.
fn gallery(m: &mut Markup, view: &View) {
    if view.pictures.is_empty() {
        return;
    }
    m.element("section", &[("id", "pictures"), ("aria-labelledby", "pictures-heading")], |m| {
        m.leaf("h2", &[("id", "pictures-heading")], "Pictures");
        if view.pictures.iter().any(|kind| kind.len() > 1) {
            m.leaf(
                "p",
                &[("class", "quiet")],
                "Each picture has axes of its own: compare the figures, not the heights.",
            );
        }
        for kind in &view.pictures {
            let class = if kind.len() > 1 { "beside" } else { "alone" };
            m.element("div", &[("class", class)], |m| {
                kind.iter().for_each(|picture| super::figure(m, picture));
            });
        }
    });
}
