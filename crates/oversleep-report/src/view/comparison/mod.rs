//! The view of a comparison: which machines, what must not be concluded, how they differ, series side by side, series
//! that only some have, and the conclusion.
//!
//! Results are named by letters, the base is A. Every heading says which of them were not taken on a real machine.

mod adding;
mod clocks;
mod conclusion;
mod machines;
mod neighbours;
mod parts;
mod series;
mod sketch;

use oversleep_explain::compare::fastest_on_all;
use oversleep_record::comparison::{Caveat, CaveatKind, Compared, Comparison, FactDifference};

use super::head::{fact_text, mark};
use super::overview::Headline;
use super::pictures::Picture;
use super::select::distinct;
use super::table::{Cell, Columns, Section, ToCell, Tone};
use crate::words::{date, grouped};

pub use adding::Adding;
pub use sketch::Sketch;

/// The most results compared at once: each has a letter.
pub const RESULTS_MAX: usize = 26;

/// The contents of the report.
#[derive(Default)]
pub struct View {
    /// The heading.
    pub title: String,
    /// The results: the name of each, and where and when it was taken.
    pub results: Vec<(String, String)>,
    /// What must not be concluded.
    pub warnings: Vec<String>,
    /// The tables.
    pub sections: Vec<Section>,
    /// Pictures of all results together, then those of each, by kind.
    pub pictures: Vec<Vec<Picture>>,
    /// What follows every heading: which results were not taken on a real machine.
    pub marks: String,
    /// The figures that matter most, for a reader who reads nothing else.
    pub headlines: Vec<Headline>,
    /// What was found: each has a heading of its own.
    pub found: Vec<Found>,
    /// What differs most, in sentences, for those who don't see the headlines.
    pub most: Vec<String>,
    /// The conclusion.
    pub summary: Vec<String>,
    /// Text that is laid out already, without styles.
    pub text: String,
}

/// Something that was found, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its id: `OVS-F001`.
    pub id: &'static str,
    /// Its name: `host-unlike-its-group`.
    pub name: &'static str,
    /// What differs, where, since when and by how much.
    pub sentence: String,
    /// What to do.
    pub next_step: String,
}

impl View {
    /// Whether anything is said of it besides figures.
    pub fn has_conclusion(&self) -> bool {
        !self.found.is_empty() || self.sentences().next().is_some()
    }

    /// The conclusion where there are no headlines.
    pub fn sentences(&self) -> impl Iterator<Item = &String> {
        self.most.iter().chain(&self.summary)
    }
}

/// The view of a comparison of the results in these files, of which these are sketches.
pub fn view(comparison: &Comparison, sketches: &[Sketch], files: &[String], full: bool) -> View {
    let mut sections = Vec::new();
    // What changed stands beside what differs.
    sections.extend(facts(comparison));
    sections.extend(machines::section(comparison, files, full));
    sections.extend(neighbours::section(comparison, sketches));
    sections.extend(clocks::common(comparison, full));
    sections.extend(clocks::steps(comparison, full));
    sections.extend(parts::section(comparison));
    sections.extend(series::by_quantity(comparison, full));
    sections.extend(advice(sketches));
    sections.extend(series::unmatched(comparison, full));
    sections.iter_mut().for_each(Section::explain_marks);
    View {
        title: format!("oversleep compare: {} results", comparison.results.len()),
        results: (0..).zip(&comparison.results).map(|(index, result)| described(index, result, files)).collect(),
        warnings: warnings(comparison),
        sections,
        marks: marks(comparison),
        headlines: conclusion::headlines(comparison),
        most: comparison.others().filter_map(|result| conclusion::differ_most(comparison, result)).collect(),
        found: Vec::new(),
        summary: conclusion::summary(comparison)
            .into_iter()
            .chain(conclusion::changed(comparison))
            .chain(neighbours::summary(sketches))
            .chain(fastest_on_all(comparison))
            .chain(parts::summary(comparison))
            .collect(),
        pictures: by_kind(neighbours::picture(comparison, sketches, files), sketches),
        text: String::new(),
    }
}

/// What helps the late calls of each result's runtimes.
fn advice(sketches: &[Sketch]) -> Option<Section> {
    let all: Vec<String> = sketches.iter().flat_map(|sketch| sketch.advice.iter().cloned()).collect();
    (!all.is_empty()).then(|| Section::new("advice", "What helps late calls").notes(all))
}

/// The part about the clocks alone: where each is valid, and which is the fastest valid on all.
pub fn clocks_view(comparison: &Comparison, _: &[Sketch], files: &[String], full: bool) -> View {
    let whole = view(comparison, &[], files, full);
    let is_of_clocks = |section: &Section| ["clocks", "clock-steps"].contains(&section.id.as_str());
    let sentence = fastest_on_all(comparison).unwrap_or_else(|| {
        "Fewer than two of these results hold the cost of clocks. Measure it on each machine with `oversleep clocks --out FILE`."
            .to_owned()
    });
    let without_sentence = |mut section: Section| {
        section.notes.retain(|note| *note != sentence);
        section
    };
    View {
        title: format!("oversleep clocks: {} results", comparison.results.len()),
        sections: whole.sections.into_iter().filter(is_of_clocks).map(without_sentence).collect(),
        headlines: Vec::new(),
        most: Vec::new(),
        summary: vec![sentence.clone()],
        ..whole
    }
}

/// One picture of all results first. Then, kind by kind, a row for each picture that several results have, and one for
/// those that only one has.
fn by_kind(common: Option<Picture>, sketches: &[Sketch]) -> Vec<Vec<Picture>> {
    let mut kinds: Vec<Vec<Vec<Picture>>> = Vec::new();
    for picture in sketches.iter().flat_map(|sketch| &sketch.pictures).cloned() {
        match kinds.iter_mut().find(|kind| kind[0][0].kind == picture.kind) {
            Some(kind) => match kind.iter_mut().find(|row| row[0].part == picture.part) {
                Some(row) => row.push(picture),
                None => kind.push(vec![picture]),
            },
            None => kinds.push(vec![vec![picture]]),
        }
    }
    let mut rows: Vec<Vec<Picture>> = common.into_iter().map(|picture| vec![picture]).collect();
    for kind in kinds {
        let (shared, alone): (Vec<_>, Vec<_>) = kind.into_iter().partition(|row| row.len() > 1);
        rows.extend(shared);
        let alone: Vec<Picture> = alone.into_iter().flatten().collect();
        rows.extend(Some(alone).filter(|alone| !alone.is_empty()));
    }
    rows
}

/// What must not be concluded, each sentence once with the results that it concerns. What makes the results differ comes
/// before what limits each of them.
fn warnings(comparison: &Comparison) -> Vec<String> {
    let differs = |caveat: &&Caveat| {
        matches!(caveat.kind, CaveatKind::OtherClock | CaveatKind::OtherFollower | CaveatKind::OtherCpus)
    };
    let (between, of_one): (Vec<_>, Vec<_>) = comparison.caveats.iter().partition(differs);
    let sentences = distinct(between.into_iter().chain(of_one).map(|caveat| caveat.sentence.as_str()));
    let about = |sentence: &str| {
        let of_sentence = comparison.caveats.iter().filter(|caveat| caveat.sentence == sentence);
        of_sentence.map(|caveat| letter(caveat.result)).collect::<Vec<_>>().join(", ")
    };
    sentences.into_iter().map(|sentence| format!("{}: {sentence}.", about(sentence))).collect()
}

/// The results' indices; the base is 0.
fn indices(comparison: &Comparison) -> std::ops::Range<u32> {
    0..u32::try_from(comparison.results.len()).unwrap_or(u32::MAX)
}

/// The letter of a result: A, B, C …
pub fn letter(index: u32) -> String {
    char::from_u32('A' as u32 + index).filter(char::is_ascii_uppercase).map_or_else(|| index.to_string(), String::from)
}

fn mark_of(result: &Compared) -> Option<String> {
    mark(result.platform.modelled.as_deref(), result.wine.as_deref(), result.emulated.is_some())
}

fn marks(comparison: &Comparison) -> String {
    let marked = |(index, result): (u32, &Compared)| Some(format!("{} {}", letter(index), mark_of(result)?));
    let all: Vec<String> = (0..).zip(&comparison.results).filter_map(marked).collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join("; ")) }
}

/// A result in a few letters: its name, the model, or its file.
fn short_name(comparison: &Comparison, index: u32, files: &[String]) -> String {
    let result = comparison.results.get(index as usize);
    let known = result.and_then(|result| result.name.clone().or_else(|| result.platform.modelled.clone()));
    known.unwrap_or_else(|| {
        let file = files.get(index as usize).map(String::as_str).unwrap_or_default();
        let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
        name.strip_suffix(".json").unwrap_or(name).to_owned()
    })
}

fn described(index: u32, result: &Compared, files: &[String]) -> (String, String) {
    let file = files.get(index as usize).map(String::as_str).unwrap_or_default();
    let name = result.name.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
    let base = if index == 0 { ", the base" } else { "" };
    let mark = mark_of(result).map(|mark| format!(" ({mark})")).unwrap_or_default();
    let mut parts = result.machine.clone();
    parts.extend(result.taken_unix_s.and_then(date));
    parts.push(format!("{} {} {}", result.tool.name, result.tool.version, result.command));
    (format!("{}: {file}{name}{base}{mark}", letter(index)), parts.join(" · "))
}

/// How the machines differ.
fn facts(comparison: &Comparison) -> Option<Section> {
    if series::is_over(comparison, FACTS_SIDE_BY_SIDE_MAX) {
        return facts_by_value(comparison);
    }
    // What another program's file doesn't state is unknown, and no difference.
    let is_imported = |index: &u32| comparison.results[*index as usize].command == IMPORT;
    let imported: Vec<u32> = indices(comparison).filter(is_imported).collect();
    let is_stated = |fact: &&FactDifference| {
        imported.iter().all(|&index| fact.values.get(index as usize).is_some_and(Option::is_some))
    };
    let (mut stated, unstated): (Vec<_>, Vec<_>) = comparison.facts.iter().partition(is_stated);
    // What all have tells more than what one system doesn't know.
    stated.sort_by_key(|fact| fact.values.iter().any(Option::is_none));
    let mut columns = Columns::new().words("fact", |fact: &&FactDifference| fact.name.as_str());
    for index in indices(comparison) {
        columns = columns.words(letter(index), move |fact| fact_cell(fact, index as usize));
    }
    let table = columns.table("Facts that matter for timing and are not the same in all results", stated)?;
    let of: Vec<String> = imported.into_iter().map(letter).collect();
    let left_out = (!unstated.is_empty() && !of.is_empty())
        .then(|| format!("{} more facts aren't stated by {}.", grouped(unstated.len() as u64), of.join(", ")));
    Some(Section::new("facts", "How the machines differ").tables([table]).notes(left_out))
}

/// Up to this many results have a column each in the table of facts.
const FACTS_SIDE_BY_SIDE_MAX: usize = 3;

/// How many machines differ: a row for each value of a fact, with the results that have it.
fn facts_by_value(comparison: &Comparison) -> Option<Section> {
    let mut rows: Vec<(&str, String, Vec<String>)> = Vec::new();
    for fact in &comparison.facts {
        let from = rows.len();
        for (index, value) in (0..).zip(&fact.values) {
            let Some(value) = value else { continue };
            let text = fact_text(&fact.name, value);
            match rows[from..].iter_mut().find(|(_, known, _)| *known == text) {
                Some((.., results)) => results.push(letter(index)),
                None => {
                    let name = if rows.len() == from { fact.name.as_str() } else { "" };
                    rows.push((name, text, vec![letter(index)]));
                }
            }
        }
    }
    let columns = Columns::new()
        .words("fact", |(name, ..): &(&str, String, Vec<String>)| *name)
        .words("value", |(_, value, _)| value.clone())
        .words("in", |(.., results)| results.join(", "));
    let table = columns.table("Facts that matter for timing and are not the same in all results", rows)?;
    Some(Section::new("facts", "How the machines differ").tables([table]))
}

fn fact_cell(fact: &FactDifference, index: usize) -> Option<Cell> {
    let text = |index: usize| Some(fact_text(&fact.name, fact.values.get(index)?.as_ref()?));
    let tone = if text(0) == text(index) { Tone::Plain } else { Tone::Strong };
    Some(text(index)?.toned(tone))
}

/// The command of results that are files of other programs.
const IMPORT: &str = "import";

fn has_imported(comparison: &Comparison) -> bool {
    comparison.results.iter().any(|result| result.command == IMPORT)
}

#[cfg(test)]
mod tests;
