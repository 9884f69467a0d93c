//! One table of machines by figures, for two or more results.

use std::collections::BTreeMap;

use oversleep_explain::COMMON_REQUEST;
use oversleep_record::ExperimentId;
use oversleep_record::comparison::{Comparison, SeriesComparison, Verdict};
use oversleep_record::key::Part;

use super::{indices, letter, series, short_name};
use crate::view::table::{Cell, Columns, Section, Table, ToCell, Tone};
use crate::words::{MEDIAN_MIN, counted, value};

/// The most figures of each machine: in brief, and in full.
const FIGURES_MAX: [usize; 2] = [6, 20];

/// Up to so many machines stand beside one another; more are a row each.
const BESIDE_MAX: usize = 4;

/// A series and what it is called.
type Figure<'a> = (&'a SeriesComparison, String);

/// The table: the most informative series of each result.
pub(super) fn section(comparison: &Comparison, files: &[String], full: bool) -> Option<Section> {
    let mut shared: Vec<&SeriesComparison> = comparison.series.iter().filter(|series| is_shared(series)).collect();
    shared.sort_by(|one, other| {
        let order = |series: &SeriesComparison| {
            let is_telling = is_common_sleep(series) || is_common_wait_of_runtime(series);
            (std::cmp::Reverse(holders(series)), !is_telling, series::best_rank(series))
        };
        order(one).cmp(&order(other)).then(series::factor(other).total_cmp(&series::factor(one)))
    });
    let shared = one_of_each_first(shared);
    let left = shared.len().saturating_sub(FIGURES_MAX[usize::from(full)]);
    let shared = &shared[..shared.len() - left];
    if shared.is_empty() {
        return None;
    }
    let heads: Vec<String> = shared.iter().map(|series| head(series)).collect();
    let heads: Vec<String> = shared.iter().zip(&heads).map(|(one, head)| whole_head(one, head, &heads)).collect();
    let figures: Vec<Figure> = shared.iter().copied().zip(heads).collect();
    let name = |result: u32| format!("{} {}", letter(result), short_name(comparison, result, files));
    let results = indices(comparison);
    let is_few = comparison.results.len() <= BESIDE_MAX;
    let table = if is_few { in_columns(figures, results, name) } else { in_rows(figures, results, name) }?;
    let more = (left > 0).then(|| format!("{} more are compared below.", counted(left, "series")));
    Some(Section::new("machines", "Machines side by side").tables([table]).notes(more))
}

/// The head, with its experiment where several have it.
fn whole_head(series: &SeriesComparison, head: &str, all: &[String]) -> String {
    let is_ambiguous = all.iter().filter(|other| *other == head).count() > 1;
    if is_ambiguous { format!("{} {head}", series.experiment) } else { head.to_owned() }
}

/// A column for each machine.
fn in_columns(figures: Vec<Figure>, results: impl Iterator<Item = u32>, name: impl Fn(u32) -> String) -> Option<Table> {
    let mut columns = Columns::new().words("", |(_, head): &Figure| head.clone());
    for result in results {
        columns = columns.figure(name(result), move |(series, _)| median(series, result));
    }
    columns.table("Medians: each machine in a column; waits by their lateness", figures)
}

/// A row for each machine.
fn in_rows(figures: Vec<Figure>, results: impl Iterator<Item = u32>, name: impl Fn(u32) -> String) -> Option<Table> {
    let mut columns = Columns::new().words("", |result: &u32| name(*result));
    for ((series, head), rank) in figures.into_iter().zip(0_u8..) {
        columns = columns.figure(head, move |result| median(series, *result)).rank(rank);
    }
    columns.table("Medians: each machine in a row; waits by their lateness", results)
}

/// The median of one result; in strong letters if it differs from the base.
fn median(series: &SeriesComparison, result: u32) -> Option<Cell> {
    let side = series.side(result)?;
    let mark = if side.count < MEDIAN_MIN { "~" } else { "" };
    let differs = side.against_base.as_ref().is_some_and(|against| against.p50.verdict == Verdict::Differs);
    let text = format!("{mark}{}", value(series.unit, side.p50?.value));
    Some(text.toned(if differs { Tone::Strong } else { Tone::Plain }))
}

/// The most informative experiments: sleeps, waits of runtimes, clocks, hand-offs, fork-joins.
const TELLING: [ExperimentId; 6] =
    [ExperimentId::B5, ExperimentId::R1, ExperimentId::A1, ExperimentId::D4, ExperimentId::D1, ExperimentId::B1];

/// One series of each experiment, and of each runtime in it, the most informative first, then a second one of each, and so
/// on; series of all results come before those of only some.
fn one_of_each_first(series: Vec<&SeriesComparison>) -> Vec<&SeriesComparison> {
    let mut seen: BTreeMap<(ExperimentId, Option<String>), usize> = BTreeMap::new();
    let mut placed: Vec<(usize, usize, &SeriesComparison)> = Vec::new();
    for one in series {
        let runtime = one.runtime.as_ref().map(ToString::to_string);
        let turn = seen.entry((one.experiment, runtime)).or_default();
        let place = TELLING.iter().position(|id| *id == one.experiment).unwrap_or(TELLING.len());
        placed.push((*turn, place, one));
        *turn += 1;
    }
    placed.sort_by_key(|(turn, place, one)| (std::cmp::Reverse(holders(one)), *turn, *place));
    placed.into_iter().map(|(.., one)| one).collect()
}

fn is_shared(series: &SeriesComparison) -> bool {
    // Series beside neighbours and observed waits have their own tables.
    let has_own_table = [ExperimentId::C3, ExperimentId::C4, ExperimentId::Y1].contains(&series.experiment);
    holders(series) > 1 && !has_own_table
}

fn holders(series: &SeriesComparison) -> usize {
    series.sides.iter().filter(|side| side.p50.is_some()).count()
}

/// Whether it is the sleep that most programs make.
fn is_common_sleep(series: &SeriesComparison) -> bool {
    series.experiment == ExperimentId::B5
        && series.requested_ns == Some(COMMON_REQUEST)
        && series.sides.iter().any(|side| side.subject.is_some())
}

/// Whether it is a wait of a runtime for the common request.
fn is_common_wait_of_runtime(series: &SeriesComparison) -> bool {
    series.experiment == ExperimentId::R1 && series.runtime.is_some() && series.requested_ns == Some(COMMON_REQUEST)
}

/// A short head for a column: `nanosleep 1 ms`, `read of tsc`.
fn head(series: &SeriesComparison) -> String {
    named(series, |name, value| format!(" {name}={value}"))
}

/// The same within a sentence: `sleep 1 ms with neighbour 2ms`.
pub(super) fn in_words(series: &SeriesComparison) -> String {
    named(series, |name, value| format!(" with {name} {value}"))
}

fn named(series: &SeriesComparison, condition: fn(&str, &str) -> String) -> String {
    let parts = series.key.parts().map(|part| match part {
        Part::Span(span) => format!(" {span}"),
        Part::Named(name, value) => condition(name, value),
        Part::Word(word) => format!(" {word}"),
    });
    let subject = if series.sides.iter().any(|side| side.subject.is_some()) { "plain sleep" } else { &series.subject };
    let read_of = if series.experiment == ExperimentId::A1 { "read of " } else { "" };
    std::iter::once(format!("{read_of}{subject}")).chain(parts).collect()
}
