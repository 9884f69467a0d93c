//! The default section of an experiment: its measurements, in the columns that every series has.

use std::collections::{BTreeMap, BTreeSet};

use oversleep_explain::coarse_step;
use oversleep_explain::verdicts::step_in_words;
use oversleep_measure::experiment;
use oversleep_record::label;
use oversleep_record::series::{Quantity, Unit};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, SeriesKey};

use crate::view::select;
use crate::view::table::{Columns, Section};
use crate::words::{UNKNOWN, capitalised, or_dash, value};

/// A property that may distinguish series: its head, and its text for each series.
struct Attribute {
    head: String,
    texts: Vec<String>,
}

/// What an experiment measured: a table for each quantity.
pub fn section(file: &ResultFile, experiment_id: ExperimentId, section_id: String) -> Section {
    let title = experiment(experiment_id).map_or_else(|| experiment_id.to_string(), |known| capitalised(known.title));
    let mut section = Section::new(section_id, title);
    section.experiments = vec![experiment_id];
    // If the system refused a condition that the experiment requested, its figures belong to another condition.
    let by_the_user = select::set_by_the_user(file);
    let refusals = |series: &Series| select::refusals(series, |name| !by_the_user.contains(name));
    let (shown, refused): (Vec<&Series>, Vec<&Series>) =
        select::measured(file, experiment_id).partition(|series| refusals(series).is_empty());
    let quantities: BTreeSet<Quantity> = shown.iter().map(|series| series.quantity).collect();
    for quantity in quantities {
        let rows: Vec<&Series> = shown.iter().copied().filter(|series| series.quantity == quantity).collect();
        let (columns, constant) = columns(file, &rows);
        section.notes.extend(has_missed_steps(file, &rows).then(|| PREEMPTED.to_owned()));
        section.tables.extend(columns.table(caption(quantity, rows[0].unit), rows));
        section.notes.extend((!constant.is_empty()).then(|| format!("In every row: {}.", constant.join(", "))));
    }
    let refusals: BTreeSet<String> = refused.into_iter().flat_map(refusals).collect();
    section.notes.extend(refusals.into_iter().map(|refusal| format!("Refused here, so not shown: {refusal}.")));
    section
}

fn caption(quantity: Quantity, unit: Unit) -> &'static str {
    match quantity {
        Quantity::Lateness => "Lateness",
        Quantity::WakeUpLatency => "From waking up until the thread has a CPU",
        Quantity::Duration => "Duration as each clock shows it",
        Quantity::Cost if unit == Unit::Ps => "Cost of one read",
        Quantity::Cost => "Duration of one call",
        Quantity::Step => "Steps of the clock",
        Quantity::HandoffLatency => "From the signal until the woken thread runs",
        Quantity::ForkJoin => "Duration from fork to join",
        Quantity::WakeupsPerSecond => "Events per second",
        Quantity::GenerationsPerSecond => "Generations per second",
        Quantity::StatedResolution => "Timer resolution as the system states it",
        Quantity::IdleResidency => "Time in an idle state per second",
        Quantity::Power => "Power of the processor packages",
        Quantity::ItemsPerSecond => "Items per second",
        Quantity::Period => "From one wake-up to the next",
        Quantity::ItemLatency => "From when an item was due until its worker had it",
    }
}

/// The columns that distinguish these series and those of their values, and the properties that all have in common.
fn columns<'a>(file: &'a ResultFile, rows: &[&'a Series]) -> (Columns<'a, &'a Series>, Vec<String>) {
    let subjects = places(&rows.iter().map(|series| series.subject.clone()).collect::<Vec<_>>());
    let mut known = vec![subjects, vec![0; rows.len()]];
    let mut constant = Vec::new();
    let mut columns = Columns::new().subject("subject").requested();
    columns = columns
        .figure("rounded to", |series| series.rounded_ns.filter(|_| series.rounded_ns != series.requested_ns))
        .rank(2);
    for attribute in attributes(rows) {
        let places = places(&attribute.texts);
        let is_label =
            places.iter().all(|&place| place == 0) && !["runtime", "timed by", "pace"].contains(&&*attribute.head);
        let repeats_subject = rows.iter().zip(&attribute.texts).all(|(series, text)| series.subject == *text);
        if is_label && !repeats_subject && rows.len() > 1 {
            constant.push(format!("{} {}", attribute.head, attribute.texts[0]));
        }
        if known.contains(&places) {
            continue;
        }
        known.push(places);
        let texts: BTreeMap<&SeriesKey, String> = rows.iter().map(|series| &series.key).zip(attribute.texts).collect();
        columns = columns.words(attribute.head, move |series| texts.get(&series.key).cloned());
    }
    let is_step = rows.iter().any(|series| series.quantity == Quantity::Step);
    // The least difference isn't always a step: all polls may have missed some.
    let columns = match is_step {
        true => columns.figure("step", |series| step(file, series)).max().count(),
        false => columns.values(),
    };
    (columns, constant)
}

/// The step of a coarse clock, as the finding says it.
fn step(file: &ResultFile, series: &Series) -> String {
    let stated = file.clock(&series.subject).and_then(|clock| clock.stated_step_ns);
    step_in_words(coarse_step(file, series), stated)
}

/// Said where a clock moved by several steps between two readings.
const PREEMPTED: &str = "max is several steps at once: they passed while something else had the CPU.";

fn has_missed_steps(file: &ResultFile, rows: &[&Series]) -> bool {
    let is_several = |series: &&Series| {
        let step = coarse_step(file, series);
        series.quantity == Quantity::Step && series.distribution.max().is_some_and(|max| max > step.0 / 2 * 3)
    };
    rows.iter().any(is_several)
}

/// For each text the index of the first equal one: attributes with the same indices are equivalent.
fn places(texts: &[String]) -> Vec<usize> {
    let mut first = BTreeMap::new();
    texts.iter().enumerate().map(|(place, text)| *first.entry(text).or_insert(place)).collect()
}

fn attributes(rows: &[&Series]) -> Vec<Attribute> {
    let of = |head: &str, text: &dyn Fn(&Series) -> String| Attribute {
        head: head.to_owned(),
        texts: rows.iter().map(|series| text(series)).collect(),
    };
    let labels: BTreeSet<&str> = rows.iter().flat_map(|series| series.labels.iter()).map(|(name, _)| name).collect();
    let runtime = |series: &Series| or_dash(series.runtime.as_ref());
    let mut all = vec![
        of("runtime", &runtime),
        of("timed by", &|series| series.clock.clone()),
        of("pace", &|series| or_dash(series.pace)),
    ];
    all.extend(labels.into_iter().map(|name| {
        // A task's share of it is a label of its own.
        let is_sum = name == label::WORK.name();
        let head = if is_sum { "work of all threads" } else { name.strip_suffix("_ns").unwrap_or(name) };
        let head = head.replace('_', " ");
        let of_series =
            |series: &Series| series.labels.iter().find(|(known, _)| *known == name).map(|(_, text)| text.to_owned());
        of(&head, &|series| of_series(series).map_or_else(|| UNKNOWN.to_owned(), |text| label_text(name, &text)))
    }));
    let has_conditions = rows.iter().any(|series| !series.conditions.is_as_found());
    all.extend(has_conditions.then(|| of("conditions", &|series| select::requested_conditions(&series.conditions))));
    all
}

fn label_text(name: &str, text: &str) -> String {
    match text.parse() {
        Ok(ns) if name.ends_with("_ns") => value(Unit::Ns, Nanos(ns).0),
        _ => text.replace('-', " "),
    }
}

/// The tables as texts, for tests.
#[cfg(test)]
pub fn texts(table: &crate::view::table::Table) -> Vec<Vec<&str>> {
    let heads = table.columns.iter().map(|column| column.head.as_str()).collect();
    let rows = table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect());
    std::iter::once(heads).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use oversleep_record::ExperimentId;
    use oversleep_record::conditions::Outcome;
    use oversleep_record::testing::Sheet;
    use oversleep_record::testing::good_clock;
    use oversleep_record::{ClockResult, Unavailable};

    use super::*;

    #[test]
    fn what_tells_series_apart_is_a_column_and_what_they_share_a_note() {
        let file = Sheet::linux().steady("D1/blocked/coarse", 12_000_000).steady("D1/blocked/precise", 14_700_000).file;
        let section = section(&file, ExperimentId::D1, "d1".to_owned());
        assert_eq!(
            (section.title.as_str(), section.tables[0].caption.as_str()),
            ("Fork-join", "Duration from fork to join")
        );
        assert_eq!(
            texts(&section.tables[0]),
            [
                ["subject", "timed by", "min", "p50", "max", "count"],
                ["blocked", "monotonic-coarse", "12 ms", "12 ms", "12 ms", "80"],
                ["blocked", "monotonic", "14.7 ms", "14.7 ms", "14.7 ms", "80"]
            ]
        );
        assert_eq!(section.notes, ["In every row: tasks 2, threads 8, work of all threads 120 ms."]);
    }

    #[test]
    fn the_step_of_a_coarse_clock_is_that_of_the_finding_and_the_rest_is_preemption() {
        let mut sheet = Sheet::linux().steady("B3/monotonic-coarse", 8_000_000).steady("B3/realtime-coarse", 4_000_000);
        sheet.file.series[0].distribution.record(12_000_000);
        sheet.file.series[0].counts.recorded += 1;
        let stated = |name: &str| ClockResult { stated_step_ns: Some(Nanos(4_000_000)), ..good_clock(name) };
        let file = sheet.clock(stated("monotonic-coarse")).clock(stated("realtime-coarse")).file;
        let section = section(&file, ExperimentId::B3, "b3".to_owned());
        assert_eq!(
            texts(&section.tables[0]),
            [
                ["subject", "step", "max", "count"],
                ["monotonic-coarse", "4 ms", "12 ms", "81"],
                ["realtime-coarse", "4 ms", "4 ms", "80"]
            ]
        );
        assert_eq!(section.notes, [PREEMPTED]);
    }

    #[test]
    fn an_experiment_of_a_newer_version_is_shown_too() {
        let mut file = Sheet::linux().steady("B7/sched-yield/idle", 511).steady("B7/sched-yield/load=spin:2", 961).file;
        let id: ExperimentId = "E9".parse().expect("an id");
        file.series.iter_mut().for_each(|series| series.experiment = id);
        let section = section(&file, id, "other-0".to_owned());
        assert_eq!(section.title, "E9");
        assert_eq!(
            texts(&section.tables[0]),
            [
                ["subject", "competition", "min", "p50", "max", "count"],
                ["sched-yield", "idle", "511 ns", "511 ns", "511 ns", "80"],
                ["sched-yield", "–", "961 ns", "961 ns", "961 ns", "80"]
            ]
        );
    }

    #[test]
    fn figures_under_a_refused_policy_are_those_of_another_policy() {
        let mut file = Sheet::linux()
            .steady("B8/nanosleep/1ms/policy=other", 66_000)
            .steady("B8/nanosleep/1ms/policy=fifo:1", 66_000)
            .file;
        let why = Unavailable::not_permitted("SCHED_FIFO", "grant CAP_SYS_NICE");
        file.series[1].conditions.outcomes.insert("policy".into(), Outcome::Denied { why });
        let section = section(&file, ExperimentId::B8, "b8".to_owned());
        assert_eq!(section.tables[0].rows.len(), 1);
        let says = "Refused here, so not shown: policy fifo:1: SCHED_FIFO is not permitted (grant CAP_SYS_NICE).";
        assert_eq!(section.notes, [says]);
    }
}
