//! A summary of a result: the clocks that matter, the waits in groups, and the bottom line.

use oversleep_explain::costs::{Cost, Costs};
use oversleep_explain::verdicts::{ClockTable, ClockVerdict, Validity, clock_table};
use oversleep_lab::machines::is_assumed;
use oversleep_record::finding::Severity;
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
    let tried =
        gain.map_or_else(|| format!("No remedy was tried; it is {size} late"), |gain| format!("Tried here: {gain}"));
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

fn basics(file: &ResultFile, sleep: Option<&Series>, clocks: &ClockTable) -> Vec<Headline> {
    let sleep = sleep.and_then(|series| {
        let (requested, calls) = (series.requested_ns?, series.calls());
        let duration = match TwoPeaks::of(calls) {
            Some(peaks) => format!("one of two durations: {}", peaks.words(series.unit, requested.0)),
            None => (requested + Nanos(calls.p50()?)).to_string(),
        };
        let assumed = if is_assumed(file, &["wake.cost"]) { "; how long a wake-up takes is assumed" } else { "" };
        let of = format!("{}{assumed}", series.subject);
        Some(Headline { what: "a 1 ms sleep takes".to_owned(), figure: duration, of })
    });
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
mod tests {
    use oversleep_record::conditions::{Conditions, Setting};
    use oversleep_record::testing::Sheet;
    use oversleep_system::tunables::names as tunable;

    use super::super::testing::rich;
    use super::*;

    #[test]
    fn waits_that_end_about_equally_late_are_one_group() {
        let mut sheet = Sheet::linux();
        for (wait, late) in [("futex", 61_000), ("timerfd", 13_800), ("poll", 64_000), ("io-uring", 14_200)] {
            sheet = sheet.steady(format!("B5/{wait}/1ms"), late);
        }
        let groups = groups(&sheet.file, Nanos::from_millis(1));
        let names: Vec<Vec<&str>> = groups.iter().map(|group| group.iter().map(|(wait, _)| *wait).collect()).collect();
        assert_eq!(names, [["timerfd", "io-uring"], ["futex", "poll"]]);
    }

    #[test]
    fn sentences_are_cut_between_clauses_only() {
        let text = "clock showed 73 µs of a 100 ms wait: it counts CPU time; likewise others.";
        assert_eq!(clauses_within(text, 80), text.trim_end_matches('.'));
        assert_eq!(clauses_within(text, 60), "clock showed 73 µs of a 100 ms wait: it counts CPU time");
        assert_eq!(clauses_within(text, 40), "clock showed 73 µs of a 100 ms wait");
        assert_eq!(clauses_within(text, 20), text.trim_end_matches('.'));
        assert_eq!(clauses_within("it is late, because it rounds up", 30), "it is late");
        let named = "app (worker): nanosleep for 1 ms is late";
        assert_eq!(clauses_within(named, 30), named, "its name alone says nothing");
        assert_eq!(first_clause("Set it to 1 ns. A value of 0 means the default; beware."), "Set it to 1 ns");
        assert_eq!(
            first_clause("Await it (since 3.9; on Windows since 3.11). It helps."),
            "Await it (since 3.9; on Windows since 3.11)"
        );
        assert_eq!(
            clauses_within("await it (since 3.9; later on Windows): it helps", 40),
            "await it (since 3.9; later on Windows)"
        );
    }

    #[test]
    fn a_remedy_that_helped_is_said_where_no_cost_was_found() {
        let sheet = Sheet::macos().steady("B5/nanosleep/1ms", 5_120_000);
        let sheet = sheet.steady("B8/nanosleep/1ms/policy=time-constraint", 7_000);
        let policy = Setting::Policy { policy: "time-constraint".into(), priority: 0 };
        let conditions = Conditions::as_found().with(tunable::POLICY, policy);
        let file = sheet.trial_under("time-constraint-policy", "nanosleep", conditions, 5_120_000, 7_000).file;
        let lines = bottom_line(&file, &Findings::of(&file));
        let last = lines.last().map(String::as_str).unwrap_or_default();
        assert!(last.starts_with("No cost was explained, but a remedy helped (time-constraint): "), "{lines:?}");
        assert!(last.ends_with("Tried here: p50\u{a0}5.12\u{a0}ms\u{a0}→\u{a0}7\u{a0}µs (731× lower)."), "{lines:?}");
    }

    #[test]
    fn a_late_sleep_that_nothing_explains_is_no_sleep_without_a_cost() {
        let file = Sheet::macos().steady("B5/nanosleep/1ms", 5_120_000).file;
        let last = bottom_line(&file, &Findings::of(&file)).pop().unwrap_or_default();
        assert_eq!(
            last,
            "No finding explains why it is 5.12 ms late. Measure for longer: `oversleep check --thorough`."
        );
        let file = Sheet::macos().steady("B5/nanosleep/1ms", 60_000).file;
        let last = bottom_line(&file, &Findings::of(&file)).pop().unwrap_or_default();
        assert_eq!(last, "No cost was found that a remedy could recover.");
    }

    #[test]
    fn a_model_s_assumption_is_no_headline() {
        let first_line = |floor: &str| {
            let mut sheet = Sheet::linux().floor(floor);
            sheet.file.platform.modelled = Some("macos-14-m1".to_owned());
            bottom_line(&sheet.file, &Findings::of(&sheet.file)).remove(0)
        };
        assert_eq!(first_line("mach-absolute"), "A clock read takes 20 ns (mach-absolute).");
        // Nobody has published what this one costs there.
        assert!(!first_line("mach-continuous").contains("clock read"));
    }

    #[test]
    fn the_bottom_line_names_the_sleep_the_clock_and_the_largest_cost_with_its_cure() {
        let file = rich().steady("A1/std-instant", 31_000).file;
        let lines = bottom_line(&file, &Findings::of(&file));
        assert_eq!(lines[0], "A 1 ms sleep takes 1.07 ms (nanosleep); a clock read takes 24 ns (monotonic).");
        assert!(lines[1].starts_with("Largest cost of a plain sleep (nanosleep)"), "{lines:?}");
        assert!(lines[1].contains(": timer-slack. Set the timer slack"), "{lines:?}");
        assert!(lines[1].ends_with("Tried here: p50\u{a0}66.1\u{a0}µs\u{a0}→\u{a0}14.2\u{a0}µs (−79 %)."), "{lines:?}");
        let empty = bottom_line(&Sheet::linux().file, &Findings::of(&Sheet::linux().file));
        assert_eq!(empty, ["No cost was found that a remedy could recover."]);
    }
}
