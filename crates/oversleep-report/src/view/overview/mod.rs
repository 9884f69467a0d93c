//! A summary of a result: the clocks that matter, the waits in groups, and the bottom line.

use oversleep_explain::costs::{Cost, Costs};
use oversleep_explain::verdicts::{ClockTable, ClockVerdict, Validity, clock_table};
use oversleep_lab::machines::is_assumed;
use oversleep_record::finding::{Advice, Severity, Tried};
use oversleep_record::{CommandName, ExperimentId, Nanos, ResultFile, Series, TwoPeaks};

use super::findings::{self, Findings};
use super::sections::{self, clocks, wait_at, waits_in_order};
use super::select::unavailable as unavailable_reason;
use super::select::{common_request, distinct, measured, plain_sleep, subject_in_words};
use super::table::{Columns, Section};
use crate::words::{capitalised, cost};

/// Most clocks shown.
const CLOCKS_MAX: usize = 3;
/// The standard library's clock, which is always among them.
const STD_INSTANT: &str = "std-instant";
/// Most waits of a group that are named.
const WAITS_NAMED_MAX: usize = 4;
/// Waits belong to one group where none is later than the one before it by more than this factor.
const NEXT_FACTOR_MAX: f64 = 1.3;
/// And where none is later than the first of the group by more than this factor.
const GROUP_FACTOR_MAX: f64 = 2.0;

/// The most sections that are shown one by one where there is little room.
const SECTIONS_AT_ONCE: usize = 10;

/// Whether so many sections are shown as an overview where there is little room.
pub fn is_wanted(sections: &[Section]) -> bool {
    sections.len() > SECTIONS_AT_ONCE
}

/// The sections for where there is little room: all, or of many the clocks and waits at a glance.
pub fn brief(file: &ResultFile) -> Vec<Section> {
    let all = sections::all(file);
    if is_wanted(&all) { glance(file).collect() } else { all }
}

/// The clocks and waits at a glance.
pub fn glance(file: &ResultFile) -> impl Iterator<Item = Section> {
    [clocks(file), waits(file)].into_iter().flatten()
}

/// The cheapest valid clocks.
pub fn clocks(file: &ResultFile) -> Option<Section> {
    let answer = clock_table(file);
    let valid = |row: &&ClockVerdict| row.validity == Some(Validity::Valid);
    let is_standard = |row: &&ClockVerdict| row.name == STD_INSTANT;
    let mut shown: Vec<&ClockVerdict> = answer.rows.iter().filter(valid).take(CLOCKS_MAX).collect();
    if let Some(standard) = answer.rows.iter().find(is_standard).filter(|_| !shown.iter().any(is_standard)) {
        shown.truncate(CLOCKS_MAX - 1);
        shown.push(standard);
    }
    let title = format!("Clocks: {}", clocks::valid_count(&answer));
    let columns = clocks::columns(file, &answer).only(&["clock", "read", "step", "valid"]);
    Some(Section::new("clocks", title).tables([columns.table("The cheapest valid clocks", shown)?]))
}

/// The waits at the common request, in groups that end about equally late.
pub fn waits(file: &ResultFile) -> Option<Section> {
    let common = common_request(measured(file, ExperimentId::B5))?;
    let (all, available) = waits_available(file);
    let title = format!("Waits of {common}: {available} of {all} available");
    let plain = plain_sleep(file).map(|series| series.subject.as_str()).unwrap_or_default();
    let columns = Columns::new()
        .words("lateness, p50", |group: &Vec<(&str, Nanos)>| {
            let (first, last) = (group[0].1.to_string(), group[group.len() - 1].1.to_string());
            if first == last { first } else { format!("{first} to {last}") }
        })
        .figure("count", |group| group.len() as u64)
        .words("waits", |group| names(group, plain));
    Some(Section::new("waits", title).tables(columns.table("Waits by lateness", groups(file, common))))
}

/// The waits of a group, the plain sleep first, with the number of those left out.
fn names(group: &[(&str, Nanos)], plain: &str) -> String {
    let mut names: Vec<&str> = group.iter().map(|(wait, _)| *wait).collect();
    names.sort_by_key(|name| *name != plain);
    let more = names.len().saturating_sub(WAITS_NAMED_MAX);
    let more = if more > 1 { format!(" and {more} more") } else { String::new() };
    let named = if more.is_empty() { names.len() } else { WAITS_NAMED_MAX };
    names[..named].join(", ") + &more
}

/// How many waits there are, and how many have values.
fn waits_available(file: &ResultFile) -> (usize, usize) {
    let subjects = |series: &mut dyn Iterator<Item = &Series>| distinct(series.map(|one| one.subject.clone())).len();
    (subjects(&mut file.experiment(ExperimentId::B5)), subjects(&mut measured(file, ExperimentId::B5)))
}

fn groups(file: &ResultFile, common: Nanos) -> Vec<Vec<(&str, Nanos)>> {
    let mut groups: Vec<Vec<(&str, Nanos)>> = Vec::new();
    for wait in waits_in_order(file, common) {
        let Some(p50) = wait_at(file, wait, common).and_then(|series| series.distribution.p50()) else { continue };
        let is_within = |of: Nanos, factor: f64| p50 as f64 <= of.0.max(1) as f64 * factor;
        match groups.last_mut() {
            Some(group)
                if is_within(group[0].1, GROUP_FACTOR_MAX) && is_within(group[group.len() - 1].1, NEXT_FACTOR_MAX) =>
            {
                group.push((wait, Nanos(p50)));
            }
            _ => groups.push(vec![(wait, Nanos(p50))]),
        }
    }
    groups
}

/// A figure with what it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// What has it: `a 1 ms sleep takes`.
    pub what: String,
    /// The figure: `1.07 ms`.
    pub figure: String,
    /// What it belongs to: `nanosleep`, or what would change it.
    pub of: String,
}

impl Headline {
    fn sentence(&self) -> String {
        format!("{} {} ({})", self.what, self.figure, self.of)
    }
}

/// A line of the bottom line.
pub enum Line {
    /// What a 1 ms sleep and a clock read take here.
    Basics(Vec<Headline>),
    /// A largest cost with its cure and what that gained, and the same as sentences.
    Cost(Headline, String),
    /// Anything else.
    Words(String),
}

/// The bottom line as sentences.
pub fn bottom_line(file: &ResultFile, findings: &Findings) -> Vec<String> {
    let sentence = |line| match line {
        Line::Basics(all) => {
            capitalised(&format!("{}.", all.iter().map(Headline::sentence).collect::<Vec<_>>().join("; ")))
        }
        Line::Cost(_, sentence) | Line::Words(sentence) => sentence,
    };
    bottom_lines(file, findings).into_iter().map(sentence).collect()
}

/// What a 1 ms sleep and a clock read cost here, and the largest cost with its remedy and what that gained.
pub fn bottom_lines(file: &ResultFile, findings: &Findings) -> Vec<Line> {
    let sleep = plain_sleep(file);
    let basics = basics(file, sleep, &clock_table(file));
    let mut lines: Vec<Line> = Some(Line::Basics(basics)).filter(|line| !line.is_empty()).into_iter().collect();
    lines.extend(sleep.filter(|_| is_wake_assumed(file)).and_then(assumed).map(Line::Words));
    let wait = sleep.map(|series| series.subject.as_str()).unwrap_or_default();
    let Costs { quota, of_plain_sleep, of_any_call } = findings.largest_costs(file, wait);
    if let Some(quota) = quota {
        let remedy = quota.advice.first().map(|advice| format!(" {}.", first_clause(&advice.sentence)));
        let first = format!("First: {}. {}{}", quota.name, findings::in_words(quota), remedy.unwrap_or_default());
        lines.push(Line::Words(first));
    }
    let is_same = |one: &Cost, other: &Cost| one.finding.name == other.finding.name && one.call == other.call;
    match (of_plain_sleep, of_any_call) {
        (Some(plain), Some(any)) if is_same(&plain, &any) => {
            lines.push(largest(&format!("of a plain sleep ({wait}) and of any call measured"), &plain, None));
        }
        (plain, any) => {
            // What helps the plain sleep is said even if nothing but another call has a cost.
            let helps = plain.is_none() && any.is_some();
            lines.extend(Some(()).filter(|()| helps).and_then(|()| helpful_to(findings, wait)).map(Line::Words));
            lines.extend(
                plain.map(|plain| largest(&format!("of a plain sleep ({wait})"), &plain, Some("of a plain sleep"))),
            );
            lines.extend(any.map(|any| {
                let request = any.requested.map(|requested| format!(" for {requested}")).unwrap_or_default();
                let call = format!("of {}{request}", any.call);
                largest(&format!("of any call measured ({}{request})", any.call), &any, Some(&call))
            }));
        }
    }
    let is_said = |name: &str| lines.iter().any(|line| line.names(name));
    if findings.costs().next().is_none() {
        let unexplained = || sleep.and_then(unexplained);
        let none = || "No cost was found that a remedy could recover.".to_owned();
        lines.push(Line::Words(helpful_note(findings).or_else(unexplained).unwrap_or_else(none)));
    } else if !findings.costs().any(|finding| is_said(&finding.name)) {
        let names: Vec<&str> = findings.costs().map(|finding| finding.name.as_str()).collect();
        lines.push(Line::Words(format!("Costs: {}. No remedy was shown to help.", names.join(", "))));
    }
    lines
}

impl Line {
    fn is_empty(&self) -> bool {
        matches!(self, Line::Basics(all) if all.is_empty())
    }

    /// Whether it says that name of a finding.
    fn names(&self, name: &str) -> bool {
        matches!(self, Line::Cost(_, sentence) | Line::Words(sentence) if sentence.contains(name))
    }
}

/// A remedy that helped this wait, by a note.
fn helpful_to(findings: &Findings, wait: &str) -> Option<String> {
    let is_about = |advice: &&Advice| match &advice.tried {
        Tried::Measured { subject, instead_of, helped: true, .. } => {
            instead_of.as_deref().unwrap_or(subject).split(' ').next() == Some(wait)
        }
        _ => false,
    };
    let mut notes = findings.found(Severity::Note);
    let (note, advice) = notes.find_map(|note| Some((note, note.advice.iter().find(is_about)?)))?;
    let (remedy, gain) = (first_clause(&advice.sentence), findings::gain(&advice.tried)?);
    Some(format!("A remedy helped a plain sleep ({wait}; {}): {remedy}. Tried here: {gain}.", note.name))
}

/// A remedy that helped where no rule explains what it removed.
fn helpful_note(findings: &Findings) -> Option<String> {
    let note = findings.found(Severity::Note).find(|note| note.advice.iter().any(findings::helped))?;
    let advice = findings::cure(note)?;
    let (remedy, gain) = (first_clause(&advice.sentence), findings::gain(&advice.tried)?);
    Some(format!("No cost was explained, but a remedy helped ({}): {remedy}. Tried here: {gain}.", note.name))
}

/// A sleep that is late by half of its request or more, where no finding says why.
fn unexplained(sleep: &Series) -> Option<String> {
    let (requested, late) = (sleep.requested_ns?, Nanos(sleep.calls().p50()?));
    let is_late = late.0 >= requested.0 / 2;
    is_late.then(|| {
        format!("No finding explains why it is {late} late. Measure for longer: `oversleep check --thorough`.")
    })
}

/// A largest cost in a sentence, and as a headline, which names whose it is where there are several.
fn largest(of_what: &str, cost: &Cost<'_>, of_which: Option<&str>) -> Line {
    let Cost { finding, advice, size, is_gain, .. } = cost;
    let cure = advice.map(|advice| first_clause(&advice.sentence));
    let remedy = cure.map(|cure| format!(" {cure}.")).unwrap_or_default();
    let gain = advice.and_then(|advice| findings::gain(&advice.tried)).filter(|_| *is_gain);
    let figure =
        gain.as_ref().map_or_else(|| format!("{size} late"), |gain| gain.trim_start_matches("p50").trim().to_owned());
    let why = advice.and_then(|advice| match &advice.tried {
        Tried::NotTried { why } => Some(format!(" (not tried: {why})")),
        _ => None,
    });
    let tried = gain
        .map_or_else(|| format!("It is {size} late{}", why.unwrap_or_default()), |gain| format!("Tried here: {gain}"));
    let headline = Headline {
        what: format!(
            "largest cost{}: {}",
            of_which.map(|which| format!(" {which}")).unwrap_or_default(),
            findings::in_prose(&finding.name)
        ),
        figure,
        of: cure.unwrap_or("no remedy is known").to_owned(),
    };
    Line::Cost(headline, format!("Largest cost {of_what}: {}.{remedy} {tried}.", finding.name))
}

/// Whether no publication states how long a wake-up takes on the modelled machine, which every sleep consists of.
fn is_wake_assumed(file: &ResultFile) -> bool {
    is_assumed(file, &["wake.cost"])
}

/// A plain sleep whose length is no headline.
fn assumed(sleep: &Series) -> Option<String> {
    let (requested, late) = (sleep.requested_ns?, Nanos(sleep.calls().p50()?));
    Some(format!(
        "The model assumes how long a wake-up takes, so that {} is {late} late for {requested} shows its rules, not a \
         machine.",
        sleep.subject
    ))
}

fn basics(file: &ResultFile, sleep: Option<&Series>, clocks: &ClockTable) -> Vec<Headline> {
    let sleep = sleep.and_then(|series| {
        let (requested, calls) = (series.requested_ns?, series.calls());
        let duration = match TwoPeaks::of(calls) {
            Some(peaks) => format!("one of two durations: {}", peaks.words(series.unit, requested.0)),
            None => (requested + Nanos(calls.p50()?)).to_string(),
        };
        let of = series.subject.clone();
        Some(Headline { what: "a 1 ms sleep takes".to_owned(), figure: duration, of })
    });
    let sleep = sleep.filter(|_| !is_wake_assumed(file));
    // What a model assumes is no headline: the next clock is named whose cost a source states.
    let standard = clocks.row(STD_INSTANT).and_then(|row| Some((row.cost_ps?, STD_INSTANT)));
    let floor = file.floor.as_ref().map(|floor| (floor.read_cost_ps, floor.clock.as_str()));
    let valid = clocks.rows.iter().filter(|row| row.validity == Some(Validity::Valid));
    let others = valid.filter_map(|row| Some((row.cost_ps?, row.name.as_str())));
    let is_stated = |clock: &str| !is_assumed(file, &[&format!("costs.{clock}"), "costs.other"]);
    let read = standard.into_iter().chain(floor).chain(others).find(|(_, clock)| is_stated(clock));
    let headline = |(ps, clock): (i64, &str)| Headline {
        what: "a clock read takes".to_owned(),
        figure: cost(ps),
        of: clock.to_owned(),
    };
    sleep.into_iter().chain(read.map(headline)).collect()
}

/// Whether a report ends with the bottom line: that of everything does.
pub fn has_bottom_line(file: &ResultFile) -> bool {
    file.is_from(CommandName::Check)
}

/// Where a clause that can stand alone ends.
const CLAUSE_ENDS: [&str; 5] = [": ", "; ", ". ", ", because ", ", although "];

/// The text up to the end of its first sentence or semicolon.
pub fn first_clause(text: &str) -> &str {
    let ends = ["; ", ". "].into_iter().flat_map(|end| text.match_indices(end)).map(|(at, _)| at);
    let end = ends.filter(|&at| is_whole(&text[..at])).min();
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}

/// Whether all parentheses that begin in it end there.
fn is_whole(text: &str) -> bool {
    text.matches('(').count() == text.matches(')').count()
}

/// The longest prefix that ends with a clause and fits; the whole text if it fits or no clause is short enough.
pub fn clauses_within(text: &str, room: usize) -> &str {
    let text = text.trim_end_matches('.');
    let has_room = |part: &&str| part.chars().count() <= room;
    if has_room(&text) {
        return text;
    }
    let ends = CLAUSE_ENDS.into_iter().flat_map(|end| text.match_indices(end)).map(|(at, _)| &text[..at]);
    // The name of a program and its threads says nothing: `app (worker)`.
    let is_clause = |part: &&str| part.split(" (").next().is_some_and(|words| words.contains(' '));
    ends.filter(has_room).filter(is_clause).filter(|part| is_whole(part)).max_by_key(|part| part.len()).unwrap_or(text)
}

/// Series without any values.
pub fn unavailable(file: &ResultFile) -> Vec<&str> {
    let has_values = |subject: &&str| {
        file.series
            .iter()
            .any(|series| subject_in_words(series.quantity, &series.subject) == *subject && series.has_values())
    };
    let is_missing = |series: &&Series| series.experiment != ExperimentId::A1 && unavailable_reason(series).is_some();
    let missing = file.series.iter().filter(is_missing);
    let subjects = distinct(missing.map(|series| subject_in_words(series.quantity, &series.subject)));
    subjects.into_iter().filter(|subject| !has_values(subject)).collect()
}

#[cfg(test)]
mod tests;
