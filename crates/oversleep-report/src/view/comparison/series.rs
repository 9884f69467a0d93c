//! Series beside series, and those that not all results have.

use std::collections::BTreeMap;

use oversleep_record::ExperimentId;
use oversleep_record::comparison::{AgainstBase, Comparison, Estimate, Judgement, SeriesComparison, Side, Verdict};
use oversleep_record::series::{Quantity, Unit};

use super::letter;
use crate::view::table::{Cell, Section, Table, Tone, figures, words};
use crate::view::words::{FEW_VALUES, UNKNOWN, counted_series, or_dash, value};

/// Fewest values a median is shown of without a mark.
const UNMARKED_MIN: u64 = 20;
/// Most rows of a table that a brief report shows with those that are not told apart among them.
const ROWS_MAX: usize = 16;
/// Factor between steps of fine clocks that a brief report doesn't tell: they move with what reading them costs.
const STEP_FACTOR: f64 = 2.0;

type Place = (&'static str, &'static str, fn(&SeriesComparison) -> bool);

/// Which series stand together: id, heading, and which they are. Each is in the first that takes it.
const PLACES: [Place; 8] = [
    ("lateness", "Waits: how late they end", |series| series.quantity == Quantity::Lateness),
    ("cost", "Clocks: what a read costs", |series| series.quantity == Quantity::Cost && series.unit == Unit::Ps),
    ("step", "Clocks: the steps of coarse ones", |series| series.quantity == Quantity::Step),
    ("elapsed", "Sleeps, as a clock shows them", |series| series.quantity == Quantity::Duration),
    ("handoff", "Hand-offs: until the other thread runs", |series| series.quantity == Quantity::HandoffLatency),
    ("fork-join", "Fork-joins", |series| series.quantity == Quantity::ForkJoin),
    ("yield", "Yields: what a call costs", |series| series.quantity == Quantity::Cost),
    ("rates", "Rates, states and power", |_| true),
];

/// The tables of series that can be held against the base, a section per quantity.
pub(super) fn by_quantity(comparison: &Comparison, full: bool) -> Vec<Section> {
    let mut left: Vec<&SeriesComparison> = comparison.series.iter().filter(|series| is_judged(series)).collect();
    let mut sections = Vec::new();
    for (id, title, takes) in PLACES {
        let (here, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|series| takes(series));
        left = others;
        sections.extend(section(comparison, id, title, here, full));
    }
    sections
}

fn is_judged(series: &SeriesComparison) -> bool {
    series.sides.iter().any(|side| side.against_base.is_some())
}

fn judged(series: &SeriesComparison) -> impl Iterator<Item = &AgainstBase> {
    series.sides.iter().filter_map(|side| side.against_base.as_ref())
}

/// The rank of what is not told apart.
const ALIKE: u8 = 1;

/// What is worth more comes first.
fn rank(judged: &Judgement) -> u8 {
    match judged.verdict {
        Verdict::Differs => 0,
        Verdict::Overlap => ALIKE,
        Verdict::TooDisturbed { .. } => 2,
        Verdict::NotComparable { .. } => 3,
        Verdict::TooFew { .. } => 4,
    }
}

fn best_rank(series: &SeriesComparison) -> u8 {
    judged(series).map(|against| rank(&against.p50).min(against.p99.as_ref().map_or(4, rank))).min().unwrap_or(4)
}

/// How far the medians lie apart, as a factor.
fn factor(series: &SeriesComparison) -> f64 {
    judged(series).filter_map(|against| against.p50.ratio).map(|ratio| ratio.ln().abs()).fold(0.0, f64::max)
}

fn section(
    comparison: &Comparison,
    id: &'static str,
    title: &'static str,
    mut series: Vec<&SeriesComparison>,
    full: bool,
) -> Option<Section> {
    if series.is_empty() {
        return None;
    }
    series.sort_by(|one, other| best_rank(one).cmp(&best_rank(other)).then(factor(other).total_cmp(&factor(one))));
    let (shown, few): (Vec<_>, Vec<_>) = series.into_iter().partition(|series| full || best_rank(series) < 4);
    let is_alike = |series: &&SeriesComparison| best_rank(series) == ALIKE;
    let too_many = !full && shown.len() > ROWS_MAX;
    let (alike, shown): (Vec<_>, Vec<_>) = shown.into_iter().partition(|series| too_many && is_alike(series));
    let mut table = Table::new(format!("{title}; what differs most first"), columns(comparison));
    shown.iter().for_each(|series| table.row(row(comparison, series)));
    let marked = table.rows.iter().flatten().any(|cell| cell.text.starts_with('~'));
    let mut section = Section { id, title, ..Section::default() };
    if !table.rows.is_empty() {
        section.tables.push(table.without_empty_columns());
    }
    section = section.note_if(marked.then(|| format!("{FEW_VALUES}.")));
    let more = if section.tables.is_empty() { "" } else { " more" };
    let not_told = (!alike.is_empty())
        .then(|| format!("Not told apart: {}{more}; with --full they are shown.", counted_series(alike.len())));
    section = section.note_if(not_told);
    let too_few = (!few.is_empty()).then(|| {
        format!("Too few values to conclude from: {}{more}; with --full they are shown.", counted_series(few.len()))
    });
    Some(section.note_if(too_few))
}

fn columns(comparison: &Comparison) -> Vec<crate::view::table::Column> {
    let results = 0..comparison.results.len() as u32;
    let mut columns = vec![words("series", 0)];
    for (figure, value_rank, ratio_rank) in [("p50", 0, 0), ("p99", 2, 3), ("max", 4, 5)] {
        for index in results.clone() {
            columns.push(figures(format!("{} {figure}", letter(index)), value_rank));
            if index > 0 {
                columns.push(figures(format!("{}/A", letter(index)), ratio_rank));
            }
        }
    }
    columns.push(words("verdict", 0));
    columns
}

fn row(comparison: &Comparison, series: &SeriesComparison) -> Vec<Cell> {
    let results = 0..comparison.results.len() as u32;
    let mut cells = vec![Cell::from(name(comparison, series))];
    type Figure = fn(&Side) -> Option<i64>;
    type Ratio = fn(&AgainstBase) -> (Option<f64>, bool);
    let figures: [(Figure, Ratio); 3] = [
        (|side| value_of(side.p50), |against| (against.p50.ratio, against.p50.verdict == Verdict::Differs)),
        (
            |side| value_of(side.p99),
            |against| against.p99.as_ref().map_or((None, false), |p99| (p99.ratio, p99.verdict == Verdict::Differs)),
        ),
        (|side| side.max, |against| (against.max_ratio, false)),
    ];
    for (place, (figure, ratio)) in figures.into_iter().enumerate() {
        for index in results.clone() {
            let side = series.side(index);
            let text = side.and_then(figure).map(|found| value(series.unit, found));
            let few = place == 0 && side.is_some_and(|side| side.count < UNMARKED_MIN);
            cells.push(or_dash(text.map(|text| if few { format!("~{text}") } else { text })).into());
            if index > 0 {
                let (ratio, differs) = side.and_then(|side| side.against_base.as_ref()).map_or((None, false), ratio);
                let tone = if differs { Tone::Strong } else { Tone::Soft };
                cells.push(Cell::from(or_dash(ratio.map(times))).toned(tone));
            }
        }
    }
    cells.push(verdicts(comparison, series));
    cells
}

fn value_of(estimate: Option<Estimate>) -> Option<i64> {
    estimate.map(|estimate| estimate.value)
}

/// A ratio with three digits: `0.215`, `1.50`, `222`.
fn times(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 100.0 => format!("{ratio:.0}"),
        ratio if ratio >= 10.0 => format!("{ratio:.1}"),
        ratio if ratio >= 0.995 => format!("{ratio:.2}"),
        ratio if ratio >= 0.001 => format!("{ratio:.3}"),
        ratio => format!("{ratio:.1e}"),
    }
}

/// The series' key, with what tells it from another of the same key.
fn name(comparison: &Comparison, series: &SeriesComparison) -> String {
    if comparison.series.iter().filter(|other| other.key == series.key).count() < 2 {
        return series.key.to_string();
    }
    let pace = series.pace.map(|pace| format!("{pace}, ")).unwrap_or_default();
    format!("{} ({pace}{})", series.key, series.conditions)
}

fn verdicts(comparison: &Comparison, series: &SeriesComparison) -> Cell {
    let several = comparison.results.len() > 2;
    let said = series.sides.iter().filter_map(|side| {
        let text = said(side.against_base.as_ref()?);
        Some(if several { format!("{}: {text}", letter(side.result)) } else { text })
    });
    let text = said.collect::<Vec<_>>().join("; ");
    let tone = if best_rank(series) == 0 { Tone::Warn } else { Tone::Soft };
    Cell::from(text).toned(tone)
}

fn said(against: &AgainstBase) -> String {
    let median = verdict(&against.p50, true);
    let tail = against.p99.as_ref().filter(|p99| rank(p99) != rank(&against.p50));
    let tail = tail.map(|p99| format!(", p99 {}", verdict(p99, false)));
    format!("{median}{}", tail.unwrap_or_default())
}

fn verdict(judged: &Judgement, with_interval: bool) -> String {
    match &judged.verdict {
        Verdict::Differs => "differs".to_owned(),
        Verdict::Overlap => match judged.ratio_interval.filter(|_| with_interval) {
            Some([least, most]) => format!("not told apart ({} to {})", times(least), times(most)),
            None => "not told apart".to_owned(),
        },
        Verdict::TooFew { why } => format!("too few: {why}"),
        Verdict::TooDisturbed { why } => format!("too disturbed: {why}"),
        Verdict::NotComparable { why } => format!("not comparable: {why}"),
    }
}

/// The steps clocks were seen to move by: one figure each, so shown and not judged.
pub(super) fn clock_steps(comparison: &Comparison, full: bool) -> Option<Section> {
    let results = 0..comparison.results.len() as u32;
    let mut columns = vec![words("clock", 0)];
    for index in results.clone() {
        columns.push(figures(format!("{} step", letter(index)), 0));
        if index > 0 {
            columns.push(figures(format!("{}/A", letter(index)), 0));
        }
    }
    let mut table = Table::new("The step each clock was seen to move by; in brackets what the system states", columns);
    let mut alike = 0;
    for clock in comparison.clocks.iter().filter(|clock| clock.sides.len() > 1) {
        let side = |index: u32| clock.sides.iter().find(|side| side.result == index);
        let step = |index: u32| side(index).and_then(|side| side.step_ns.or(side.stated_step_ns)).map(|step| step.0);
        let ratio = |index: u32| match (step(0), step(index)) {
            (Some(base), Some(other)) if base > 0 && other > 0 => Some(other as f64 / base as f64),
            _ => None,
        };
        let is_told = |index: u32| ratio(index).is_some_and(|ratio| ratio.ln().abs() >= STEP_FACTOR.ln());
        if !full && !results.clone().any(is_told) {
            alike += 1;
            continue;
        }
        let mut cells = vec![Cell::from(clock.name.as_str())];
        for index in results.clone() {
            let seen = side(index).and_then(|side| side.step_ns).map(|step| step.to_string());
            let stated = side(index).and_then(|side| side.stated_step_ns).map(|step| format!("({step})"));
            cells.push(or_dash(seen.or(stated)).into());
            if index > 0 {
                let tone = if is_told(index) { Tone::Strong } else { Tone::Soft };
                cells.push(Cell::from(or_dash(ratio(index).map(times))).toned(tone));
            }
        }
        table.row(cells);
    }
    if table.rows.is_empty() && alike == 0 {
        return None;
    }
    let mut section = Section { id: "clock-steps", title: "Clocks: the step of each", ..Section::default() };
    if !table.rows.is_empty() {
        section.tables.push(table);
        section = section.note("One figure each: shown, not judged.");
    }
    let others = (alike > 0).then(|| {
        let more = if section.tables.is_empty() { "" } else { " more" };
        let clocks = if alike == 1 { "1 clock" } else { &format!("{alike} clocks") };
        format!("Within a factor of two of the base: {clocks}{more}.")
    });
    Some(section.note_if(others))
}

/// Everything that is held against nothing: in which results it is, and what it shows there.
pub(super) fn unmatched(comparison: &Comparison, full: bool) -> Option<Section> {
    let left: Vec<&SeriesComparison> = comparison.series.iter().filter(|series| !is_judged(series)).collect();
    if left.is_empty() {
        return None;
    }
    let mut section = Section { id: "unmatched", title: "Held against nothing", ..Section::default() };
    if full {
        section.tables.push(unmatched_table(comparison, &left));
        return Some(section);
    }
    let mut by_place: BTreeMap<Vec<u32>, Vec<&SeriesComparison>> = BTreeMap::new();
    left.iter().for_each(|series| by_place.entry(holders(series)).or_default().push(series));
    for (place, series) in by_place {
        section =
            section.note(format!("{} ({}): {}.", placed(&place), counted_series(series.len()), subjects(&series)));
    }
    Some(section)
}

/// The results in which a series was measured.
fn holders(series: &SeriesComparison) -> Vec<u32> {
    series.sides.iter().filter(|side| side.unavailable.is_none()).map(|side| side.result).collect()
}

fn placed(results: &[u32]) -> String {
    match results {
        [] => "Nowhere to be had".to_owned(),
        [only] => format!("Only in {}", letter(*only)),
        several => {
            format!("Only in {}", several.iter().map(|&result| letter(result)).collect::<Vec<_>>().join(" and "))
        }
    }
}

/// Experiments with what was measured in them: `B5 nanosleep, usleep; D4 futex`.
fn subjects(series: &[&SeriesComparison]) -> String {
    let mut by_experiment: BTreeMap<ExperimentId, Vec<&str>> = BTreeMap::new();
    for one in series {
        let known = by_experiment.entry(one.experiment).or_default();
        if !known.contains(&one.subject.as_str()) {
            known.push(&one.subject);
        }
    }
    let all = by_experiment.iter().map(|(experiment, subjects)| format!("{experiment} {}", subjects.join(", ")));
    all.collect::<Vec<_>>().join("; ")
}

fn unmatched_table(comparison: &Comparison, left: &[&SeriesComparison]) -> Table {
    let mut columns = vec![words("series", 0)];
    columns.extend((0..comparison.results.len() as u32).map(|index| figures(format!("{} p50", letter(index)), 0)));
    columns.push(words("why not elsewhere", 0));
    let mut table = Table::new("Series that the base or all others lack", columns);
    for series in left {
        let mut cells = vec![Cell::from(name(comparison, series))];
        for index in 0..comparison.results.len() as u32 {
            let p50 = series.side(index).and_then(|side| value_of(side.p50));
            cells.push(or_dash(p50.map(|p50| value(series.unit, p50))).into());
        }
        let why = |side: &Side| Some(format!("{}: {}", letter(side.result), side.unavailable.as_ref()?));
        let reasons: Vec<String> = series.sides.iter().filter_map(why).collect();
        cells.push(
            Cell::from(if reasons.is_empty() { UNKNOWN.to_owned() } else { reasons.join("; ") }).toned(Tone::Soft),
        );
        table.row(cells);
    }
    table
}
