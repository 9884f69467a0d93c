//! A comparison as a report shows it: which machines, what may not be concluded, what differs about them, series beside
//! series, what only some have, and what it comes to.
//!
//! Results are called by letters, the base is A. Every heading says which of them are models or played by another system.

mod series;

use oversleep_record::comparison::{Compared, Comparison, FactDifference, Verdict};

use super::head::fact_text;
use super::table::{Cell, Section, Table, Tone, words};
use super::words::{UNKNOWN, counted_series, date, grouped};

/// Everything shown.
pub struct View {
    /// The heading.
    pub title: String,
    /// The results: what each is called, and where and when it was taken.
    pub results: Vec<(String, String)>,
    /// What may not be concluded.
    pub warnings: Vec<String>,
    /// The tables.
    pub sections: Vec<Section>,
    /// What stands behind every heading: which results are no machine's.
    pub marks: String,
    /// What it comes to.
    pub summary: Vec<String>,
}

/// What is shown of a comparison of the results in these files.
pub fn view(comparison: &Comparison, files: &[String], full: bool) -> View {
    let mut sections = Vec::new();
    sections.extend(facts(comparison));
    sections.extend(series::clock_steps(comparison, full));
    sections.extend(series::by_quantity(comparison, full));
    sections.extend(series::unmatched(comparison, full));
    View {
        title: format!("oversleep compare: {} results", comparison.results.len()),
        results: (0..).zip(&comparison.results).map(|(index, result)| described(index, result, files)).collect(),
        warnings: comparison
            .caveats
            .iter()
            .map(|caveat| format!("{}: {}.", letter(caveat.result), caveat.sentence))
            .collect(),
        sections,
        marks: marks(comparison),
        summary: summary(comparison),
    }
}

/// What a result is called: A, B, C …
fn letter(index: u32) -> String {
    char::from_u32('A' as u32 + index).filter(char::is_ascii_uppercase).map_or_else(|| index.to_string(), String::from)
}

/// What a result is, where it is no machine's own.
fn mark(result: &Compared) -> Option<String> {
    match (&result.platform.modelled, &result.wine, &result.emulated) {
        (Some(profile), _, _) => Some(format!("modelled: {profile}")),
        (None, Some(version), _) => Some(format!("under Wine {version}")),
        (None, None, Some(_)) => Some("under an emulator".to_owned()),
        (None, None, None) => None,
    }
}

fn marks(comparison: &Comparison) -> String {
    let marked = |(index, result): (u32, &Compared)| Some(format!("{} {}", letter(index), mark(result)?));
    let all: Vec<String> = (0..).zip(&comparison.results).filter_map(marked).collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join("; ")) }
}

fn described(index: u32, result: &Compared, files: &[String]) -> (String, String) {
    let file = files.get(index as usize).map(String::as_str).unwrap_or_default();
    let name = result.name.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
    let base = if index == 0 { ", the base" } else { "" };
    let mark = mark(result).map(|mark| format!(" ({mark})")).unwrap_or_default();
    let mut parts = result.machine.clone();
    parts.extend(result.taken_unix_s.and_then(date));
    parts.push(format!("{} {} {}", result.tool.name, result.tool.version, result.command));
    (format!("{}: {file}{name}{base}{mark}", letter(index)), parts.join(" · "))
}

/// What differs about the machines.
fn facts(comparison: &Comparison) -> Option<Section> {
    let mut columns = vec![words("fact", 0)];
    columns.extend((0..).zip(&comparison.results).map(|(index, _)| words(&letter(index), 0)));
    let mut table = Table::new("Facts that matter for timing and are not the same in all results", columns);
    for fact in &comparison.facts {
        table.row(fact_row(fact));
    }
    (!table.rows.is_empty()).then(|| Section::of("facts", "What differs about the machines", &[], table))
}

fn fact_row(fact: &FactDifference) -> Vec<Cell> {
    let text =
        |value: &Option<_>| value.as_ref().map_or_else(|| UNKNOWN.to_owned(), |value| fact_text(&fact.name, value));
    let base = fact.values.first().map(text);
    let cell = |value| {
        let text = text(value);
        let tone = if base.as_ref() == Some(&text) { Tone::Plain } else { Tone::Strong };
        Cell::from(text).toned(tone)
    };
    std::iter::once(Cell::from(fact.name.as_str())).chain(fact.values.iter().map(cell)).collect()
}

/// What each result comes to against the base, in a sentence.
fn summary(comparison: &Comparison) -> Vec<String> {
    let mut sentences: Vec<String> = comparison.others().map(|result| against_base(comparison, result)).collect();
    if !comparison.concludes() {
        sentences.push(
            "Nothing could be concluded. Measure the same on each machine, longer (`oversleep check --thorough`, or one wait \
             with `--count`) and with less else running."
                .to_owned(),
        );
    }
    sentences
}

fn against_base(comparison: &Comparison, result: u32) -> String {
    let (mut higher, mut lower, mut alike, mut few, mut disturbed, mut other) = (0, 0, 0, 0, 0, 0);
    for (series, judged) in comparison.verdicts(result) {
        let median = |result| series.side(result).and_then(|side| side.p50).map(|p50| p50.value);
        match &judged.verdict {
            Verdict::Differs if median(result) > median(0) => higher += 1,
            Verdict::Differs => lower += 1,
            Verdict::Overlap => alike += 1,
            Verdict::TooFew { .. } => few += 1,
            Verdict::TooDisturbed { .. } => disturbed += 1,
            Verdict::NotComparable { .. } => other += 1,
        }
    }
    let all = higher + lower + alike + few + disturbed + other;
    let its = letter(result);
    if all == 0 {
        return format!("{its} and A have no series in common.");
    }
    let mut parts = vec![match higher + lower {
        0 => "none differs at the median".to_owned(),
        count => format!(
            "{} at the median ({} higher in {its}, {} lower)",
            if count == 1 { "1 differs".to_owned() } else { format!("{} differ", grouped(count)) },
            grouped(higher),
            grouped(lower)
        ),
    }];
    let more = [
        (alike, "not told apart"),
        (disturbed, "too disturbed to conclude"),
        (few, "with too few values to conclude"),
        (other, "measured under other conditions than asked for"),
    ];
    parts
        .extend(more.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{} {what}", grouped(*count))));
    let tails = tails(comparison, result);
    let tails = match tails {
        0 => String::new(),
        count => format!(" The 99th percentile differs in {}.", counted_series(count)),
    };
    format!("{its} against A: of {} in common, {}.{tails}", counted_series(all as usize), parts.join(", "))
}

/// How many series differ in their tail.
fn tails(comparison: &Comparison, result: u32) -> usize {
    let sides = comparison.series.iter().filter_map(|series| series.side(result)?.against_base.as_ref()?.p99.as_ref());
    sides.filter(|judged| judged.verdict == Verdict::Differs).count()
}

#[cfg(test)]
mod tests;
