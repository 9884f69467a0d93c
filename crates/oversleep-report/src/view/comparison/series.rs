//! Series beside series, and those that not all results have.

use std::collections::BTreeMap;

use oversleep_record::comparison::{
    AgainstBase, ClockComparison, ClockSide, Comparison, Estimate, Judgement, SeriesComparison, Side, Verdict,
};
use oversleep_record::series::{Quantity, Unit};
use oversleep_record::{ExperimentId, Nanos};

use super::{indices, letter};
use crate::view::select::{distinct, subject_in_words};
use crate::view::table::{Cell, Columns, Section, ToCell, Tone};
use crate::words::{MEDIAN_MIN, UNKNOWN, counted, list, value};

/// Most rows of a table that a brief report shows with inconclusive ones among them.
const BRIEF_ROWS_MAX: usize = 16;
/// Factor between two steps of a clock from which a brief report shows them: those of fine clocks vary with the cost of
/// a read.
const STEP_FACTOR_MIN: f64 = 2.0;

type Place = (&'static str, &'static str, fn(&SeriesComparison) -> bool);

/// Which series stand together: id, heading, and which they are. Each is in the first that takes it.
const PLACES: [Place; 8] = [
    ("lateness", "Waits: lateness", |series| series.quantity == Quantity::Lateness),
    ("cost", "Clocks: cost of a read", |series| series.quantity == Quantity::Cost && series.unit == Unit::Ps),
    ("step", "Clocks: steps of coarse ones", |series| series.quantity == Quantity::Step),
    ("elapsed", "Sleeps: duration as a clock shows it", |series| series.quantity == Quantity::Duration),
    ("handoff", "Hand-offs: until the other thread runs", |series| series.quantity == Quantity::HandoffLatency),
    ("fork-join", "Fork-joins: duration", |series| series.quantity == Quantity::ForkJoin),
    ("yield", "Yields: duration of a call", |series| series.quantity == Quantity::Cost),
    ("rates", "Rates, states and power", |_| true),
];

/// The tables of series that can be compared with the base, a section per quantity.
pub(super) fn by_quantity(comparison: &Comparison, full: bool) -> Vec<Section> {
    let mut left: Vec<&SeriesComparison> = comparison.series.iter().filter(|series| is_judged(series)).collect();
    let mut sections = Vec::new();
    for (id, title, takes) in PLACES {
        let (here, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|series| takes(series));
        left = others;
        if !here.is_empty() {
            sections.push(section(comparison, Section::new(id, title), here, full));
        }
    }
    sections
}

fn is_judged(series: &SeriesComparison) -> bool {
    series.sides.iter().any(|side| side.against_base.is_some())
}

fn judged(series: &SeriesComparison) -> impl Iterator<Item = &AgainstBase> {
    series.sides.iter().filter_map(|side| side.against_base.as_ref())
}

/// The rank of what the uncertainty of both hides.
const ALIKE: u8 = 1;
/// The rank of what has too few values.
const TOO_FEW: u8 = 4;

/// The more conclusive a verdict, the lower its rank and the earlier its row.
fn rank(judged: &Judgement) -> u8 {
    match judged.verdict {
        Verdict::Differs => 0,
        Verdict::Overlap => ALIKE,
        Verdict::TooDisturbed { .. } => 2,
        Verdict::NotComparable { .. } => 3,
        Verdict::TooFew { .. } => TOO_FEW,
    }
}

fn best_rank(series: &SeriesComparison) -> u8 {
    let rank_of = |against: &AgainstBase| rank(&against.p50).min(against.p99.as_ref().map_or(TOO_FEW, rank));
    judged(series).map(rank_of).min().unwrap_or(TOO_FEW)
}

/// How far the medians lie apart, as a factor.
fn factor(series: &SeriesComparison) -> f64 {
    judged(series).filter_map(|against| against.p50.ratio).map(|ratio| ratio.ln().abs()).fold(0.0, f64::max)
}

fn section(comparison: &Comparison, section: Section, mut series: Vec<&SeriesComparison>, full: bool) -> Section {
    series.sort_by(|one, other| best_rank(one).cmp(&best_rank(other)).then(factor(other).total_cmp(&factor(one))));
    let (shown, few): (Vec<_>, Vec<_>) = series.into_iter().partition(|series| full || best_rank(series) < TOO_FEW);
    let has_many = !full && shown.len() > BRIEF_ROWS_MAX;
    let (alike, shown): (Vec<_>, Vec<_>) = shown.into_iter().partition(|series| has_many && best_rank(series) == ALIKE);
    let table = columns(comparison).table(format!("{}; largest difference first", section.title), shown);
    let hidden = [(alike.len(), "the difference is within the uncertainty"), (few.len(), "there are too few values")];
    let hidden = hidden.into_iter().filter(|(count, _)| *count > 0);
    let more = if table.is_some() { " more" } else { "" };
    section.tables(table).notes(hidden.map(|(count, why)| {
        format!("{}{more} inconclusive, because {why}; --full shows them.", counted(count, "series"))
    }))
}

type Figure = fn(&Side) -> Option<i64>;
type Ratio = fn(&AgainstBase) -> Option<(f64, bool)>;

/// A figure of each side, its ratio to the base with whether it differs, and the ranks of both columns.
const FIGURES: [(&str, Figure, Ratio, u8, u8); 3] = [
    ("p50", |side| value_of(side.p50), |against| ratio_of(&against.p50), 0, 0),
    ("p99", |side| value_of(side.p99), |against| ratio_of(against.p99.as_ref()?), 2, 3),
    ("max", |side| side.max, |against| Some((against.max_ratio?, false)), 4, 5),
];

fn value_of(estimate: Option<Estimate>) -> Option<i64> {
    estimate.map(|estimate| estimate.value)
}

fn ratio_of(judged: &Judgement) -> Option<(f64, bool)> {
    Some((judged.ratio?, judged.verdict == Verdict::Differs))
}

fn columns<'a>(comparison: &'a Comparison) -> Columns<'a, &'a SeriesComparison> {
    let mut columns = Columns::new().words("series", |series: &&SeriesComparison| name(comparison, series));
    for (head, figure, ratio, value_rank, ratio_rank) in FIGURES {
        for index in indices(comparison) {
            let cell = move |series: &&SeriesComparison| {
                let side = series.side(index)?;
                let is_few = head == "p50" && side.count < MEDIAN_MIN;
                Some(format!("{}{}", if is_few { "~" } else { "" }, value(series.unit, figure(side)?)))
            };
            columns = columns.figure(format!("{} {head}", letter(index)), cell).rank(value_rank);
            if index > 0 {
                let cell = move |series: &&SeriesComparison| {
                    let (ratio, differs) = ratio(series.side(index)?.against_base.as_ref()?)?;
                    Some(times(ratio).toned(if differs { Tone::Strong } else { Tone::Soft }))
                };
                columns = columns.figure(format!("{}/A", letter(index)), cell).rank(ratio_rank);
            }
        }
    }
    columns.words("verdict", |series| verdicts(comparison, series))
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
    let has_several = comparison.results.len() > 2;
    let verdicts = series.sides.iter().filter_map(|side| {
        let text = verdict_of(side.against_base.as_ref()?);
        Some(if has_several { format!("{}: {text}", letter(side.result)) } else { text })
    });
    let tone = if best_rank(series) == 0 { Tone::Warn } else { Tone::Soft };
    verdicts.collect::<Vec<_>>().join("; ").toned(tone)
}

fn verdict_of(against: &AgainstBase) -> String {
    let median = verdict(&against.p50, true);
    let tail = against.p99.as_ref().filter(|p99| rank(p99) != rank(&against.p50));
    let tail = tail.map(|p99| format!(", p99 {}", verdict(p99, false)));
    format!("{median}{}", tail.unwrap_or_default())
}

fn verdict(judged: &Judgement, with_interval: bool) -> String {
    match &judged.verdict {
        Verdict::Differs => "differs".to_owned(),
        Verdict::Overlap => match judged.ratio_interval.filter(|_| with_interval) {
            Some([low, high]) => format!("inconclusive ({} to {})", times(low), times(high)),
            None => "inconclusive".to_owned(),
        },
        Verdict::TooFew { why } | Verdict::TooDisturbed { why } => format!("inconclusive: {why}"),
        Verdict::NotComparable { why } => format!("not comparable: {why}"),
    }
}

/// The steps of the clocks: one figure each, so no verdict is possible.
pub(super) fn clock_steps(comparison: &Comparison, full: bool) -> Option<Section> {
    let shared: Vec<&ClockComparison> = comparison.clocks.iter().filter(|clock| clock.sides.len() > 1).collect();
    let is_shown = |clock: &&&ClockComparison| full || indices(comparison).any(|index| is_far(clock, index));
    let shown: Vec<&ClockComparison> = shared.iter().filter(is_shown).copied().collect();
    let alike = shared.len() - shown.len();
    let mut columns = Columns::new().words("clock", |clock: &&ClockComparison| clock.name.as_str());
    for index in indices(comparison) {
        columns = columns.figure(format!("{} step", letter(index)), move |clock| {
            let side = side(clock, index)?;
            // In brackets what the system states where none was observed.
            side.step_ns.map(|step| step.to_string()).or(side.stated_step_ns.map(|step| format!("({step})")))
        });
        if index > 0 {
            columns = columns.figure(format!("{}/A", letter(index)), move |clock| {
                let tone = if is_far(clock, index) { Tone::Strong } else { Tone::Soft };
                Some(times(step_ratio(clock, index)?).toned(tone))
            });
        }
    }
    let table = columns.table("Observed step of each clock; in brackets the step that the system states", shown);
    let more = if table.is_some() { " more" } else { "" };
    let note = format!("{}{more} within a factor of two of the base; --full shows them.", counted(alike, "clock"));
    let single = table.is_some().then(|| "Each is one figure, so there is no verdict.".to_owned());
    (!shared.is_empty()).then(|| {
        let section = Section::new("clock-steps", "Clocks: steps");
        section.tables(table).notes(single).notes((alike > 0).then_some(note))
    })
}

fn side(clock: &ClockComparison, index: u32) -> Option<&ClockSide> {
    clock.sides.iter().find(|side| side.result == index)
}

fn step_ratio(clock: &ClockComparison, index: u32) -> Option<f64> {
    let step = |index| side(clock, index).and_then(|side| side.step_ns.or(side.stated_step_ns));
    match (step(0)?, step(index)?) {
        (Nanos(base), Nanos(other)) if base > 0 && other > 0 => Some(other as f64 / base as f64),
        _ => None,
    }
}

fn is_far(clock: &ClockComparison, index: u32) -> bool {
    step_ratio(clock, index).is_some_and(|ratio| ratio.ln().abs() >= STEP_FACTOR_MIN.ln())
}

/// Series without a counterpart: which results have them, and their figures there.
pub(super) fn unmatched(comparison: &Comparison, full: bool) -> Option<Section> {
    let left: Vec<&SeriesComparison> = comparison.series.iter().filter(|series| !is_judged(series)).collect();
    if left.is_empty() {
        return None;
    }
    let section = Section::new("unmatched", "Series without a counterpart");
    if full {
        return Some(
            section.tables(unmatched_columns(comparison).table("Series that the base or all others lack", left)),
        );
    }
    let mut by_place: BTreeMap<Vec<u32>, Vec<&SeriesComparison>> = BTreeMap::new();
    left.iter().for_each(|series| by_place.entry(holders(series)).or_default().push(series));
    Some(section.notes(by_place.into_iter().map(|(place, series)| {
        format!("{} ({}): {}.", holders_in_words(&place), counted(series.len(), "series"), subjects(&series))
    })))
}

/// The results in which a series was measured.
fn holders(series: &SeriesComparison) -> Vec<u32> {
    series.sides.iter().filter(|side| side.unavailable.is_none()).map(|side| side.result).collect()
}

fn holders_in_words(results: &[u32]) -> String {
    match results {
        [] => "Not available in any result".to_owned(),
        some => format!("Only in {}", list(&some.iter().copied().map(letter).collect::<Vec<_>>())),
    }
}

/// Experiments with their subjects: `B5 nanosleep, usleep; D4 futex`.
fn subjects(series: &[&SeriesComparison]) -> String {
    let mut by_experiment: BTreeMap<ExperimentId, Vec<&str>> = BTreeMap::new();
    series.iter().for_each(|one| {
        by_experiment.entry(one.experiment).or_default().push(subject_in_words(one.quantity, &one.subject));
    });
    let all = by_experiment.into_iter().map(|(id, subjects)| format!("{id} {}", distinct(subjects).join(", ")));
    all.collect::<Vec<_>>().join("; ")
}

fn unmatched_columns<'a>(comparison: &'a Comparison) -> Columns<'a, &'a SeriesComparison> {
    let mut columns = Columns::new().words("series", |series: &&SeriesComparison| name(comparison, series));
    for index in indices(comparison) {
        columns = columns.figure(format!("{} p50", letter(index)), move |series| {
            Some(value(series.unit, value_of(series.side(index)?.p50)?))
        });
    }
    columns.words("why not elsewhere", |series| {
        let why = |side: &Side| Some(format!("{}: {}", letter(side.result), side.unavailable.as_ref()?));
        let reasons: Vec<String> = series.sides.iter().filter_map(why).collect();
        if reasons.is_empty() { UNKNOWN.to_owned() } else { reasons.join("; ") }.toned(Tone::Soft)
    })
}
