//! Series side by side, and those that not all results have.

use std::collections::BTreeMap;

use oversleep_record::ExperimentId;
use oversleep_record::Identity;
use oversleep_record::comparison::{AgainstBase, Comparison, Estimate, Judgement, SeriesComparison, Side, Verdict};
use oversleep_record::series::{Quantity, Unit};

use super::{indices, letter};
use crate::view::select::{distinct, subject_in_words};
use crate::view::table::{Cell, Columns, Section, ToCell, Tone};
use crate::words::{MEDIAN_MIN, UNKNOWN, capitalised, counted, list, value};

/// Most rows of a table that a brief report shows with inconclusive ones among them.
const BRIEF_ROWS_MAX: usize = 16;
/// A reason that this many verdicts of a table give is written once, in a note below it.
const NOTED_MIN: usize = 3;
/// Up to this many results have their figures side by side; those of more stand below one another.
pub(super) const MANY: usize = 2;

/// Whether there are more results than that.
pub(super) fn is_over(comparison: &Comparison, results: usize) -> bool {
    comparison.results.len() > results
}

type Place = (&'static str, &'static str, fn(&SeriesComparison) -> bool);

/// The groups of series: id, heading, and a predicate. A series is in the first group that takes it.
const PLACES: [Place; 12] = [
    ("lateness", "Waits: lateness", |series| series.quantity == Quantity::Lateness),
    ("wake-ups", "Wake-ups: until the thread has a CPU", |series| series.quantity == Quantity::WakeUpLatency),
    ("cost", "Clocks: cost of a read", |series| series.quantity == Quantity::Cost && series.unit == Unit::Ps),
    ("step", "Clocks: steps of coarse ones", |series| series.quantity == Quantity::Step),
    ("elapsed", "Sleeps: duration as a clock shows it", |series| series.quantity == Quantity::Duration),
    ("handoff", "Hand-offs: until the other thread runs", |series| series.quantity == Quantity::HandoffLatency),
    ("fork-join", "Fork-joins: duration", |series| series.quantity == Quantity::ForkJoin),
    ("items", "Queues: items per second", |series| series.quantity == Quantity::ItemsPerSecond),
    ("latency", "Queues: latency of items", |series| series.quantity == Quantity::ItemLatency),
    ("yield", "Yields: duration of a call", |series| series.quantity == Quantity::Cost),
    ("stated", "Timer resolution as the system states it", |series| series.quantity == Quantity::StatedResolution),
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

/// The verdict on figures whose intervals differ by [`Judgement::SAME_MAX`] at most.
pub(super) const THE_SAME: &str = "the same within 2 %";

/// The rank of a difference within the uncertainty of both.
const UNCERTAIN: u8 = 1;
/// The rank of figures that are known to be the same.
const SAME: u8 = 2;
/// The rank of what other activity or unsteady rounds leave open.
const DISTURBED: u8 = 3;
/// The rank of what has too few values.
const TOO_FEW: u8 = 5;

/// The more conclusive a verdict, the lower its rank and the earlier its row.
fn rank(judged: &Judgement) -> u8 {
    match judged.verdict {
        Verdict::Differs => 0,
        Verdict::Overlap if judged.is_the_same() => SAME,
        Verdict::Overlap => UNCERTAIN,
        Verdict::TooDisturbed { .. } => DISTURBED,
        Verdict::NotComparable { .. } => 4,
        Verdict::TooFew { .. } => TOO_FEW,
    }
}

pub(super) fn best_rank(series: &SeriesComparison) -> u8 {
    let rank_of = |against: &AgainstBase| rank(&against.p50).min(against.p99.as_ref().map_or(TOO_FEW, rank));
    judged(series).map(rank_of).min().unwrap_or(TOO_FEW)
}

/// The ratio of the medians.
pub(super) fn factor(series: &SeriesComparison) -> f64 {
    judged(series).filter_map(|against| against.p50.ratio).map(|ratio| ratio.ln().abs()).fold(0.0, f64::max)
}

fn section(comparison: &Comparison, section: Section, mut series: Vec<&SeriesComparison>, full: bool) -> Section {
    series.sort_by(|one, other| best_rank(one).cmp(&best_rank(other)).then(factor(other).total_cmp(&factor(one))));
    let (shown, few): (Vec<_>, Vec<_>) = series.into_iter().partition(|series| full || best_rank(series) < TOO_FEW);
    let (uncertain, shown) = beyond_brief(shown, UNCERTAIN, full);
    let (same, shown) = beyond_brief(shown, SAME, full);
    let (disturbed, shown) = beyond_brief(shown, DISTURBED, full);
    let caption = format!("{}; largest difference first", section.title);
    let reasons = Reasons::of(&shown);
    let table = if is_over(comparison, MANY) {
        let sides = |series: &'_ SeriesComparison| 0..series.sides.len();
        let rows = shown.into_iter().flat_map(|series| sides(series).map(move |side| (series, side)));
        below_one_another(comparison, &reasons).table(caption, rows)
    } else {
        columns(comparison, &reasons).table(caption, shown)
    };
    let hidden = [
        (same.len(), THE_SAME),
        (uncertain.len(), "inconclusive, because the difference is within the uncertainty"),
        (disturbed.len(), "inconclusive, because they were disturbed"),
        (few.len(), "inconclusive, because there are too few values"),
    ];
    let hidden = hidden.into_iter().filter(|(count, _)| *count > 0);
    let more = if table.is_some() { " more" } else { "" };
    let hidden = hidden.map(|(count, what)| format!("{}{more} {what}; --full shows them.", counted(count, "series")));
    section.tables(table).notes(reasons.notes()).notes(hidden)
}

/// The series of that rank that a brief report counts instead of showing them, and those it shows.
fn beyond_brief(
    series: Vec<&SeriesComparison>,
    hidden: u8,
    full: bool,
) -> (Vec<&SeriesComparison>, Vec<&SeriesComparison>) {
    let has_many = !full && series.len() > BRIEF_ROWS_MAX;
    series.into_iter().partition(|series| has_many && best_rank(series) == hidden)
}

/// The reasons that many verdicts of a table give. A verdict names one by its number.
struct Reasons<'a>(Vec<&'a str>);

impl<'a> Reasons<'a> {
    fn of(shown: &[&'a SeriesComparison]) -> Reasons<'a> {
        let all = shown.iter().flat_map(|series| judged(series)).flat_map(reasons).collect::<Vec<_>>();
        let is_common = |reason: &&str| all.iter().filter(|other| *other == reason).count() >= NOTED_MIN;
        Reasons(distinct(all.iter().copied().filter(is_common)))
    }

    /// What follows `inconclusive` in a verdict: ` [1]`, or `: the base has only 3 values in 1 round`.
    fn after_verdict(&self, reason: &str) -> String {
        match self.0.iter().position(|noted| *noted == reason) {
            Some(index) => format!(" [{}]", index + 1),
            None => format!(": {reason}"),
        }
    }

    fn notes(&self) -> impl Iterator<Item = String> {
        self.0.iter().zip(1..).map(|(reason, number)| format!("[{number}] {}.", capitalised(reason)))
    }
}

/// The reasons that a verdict gives: the one for its median, and the one for its tail if it is shown.
fn reasons(against: &AgainstBase) -> impl Iterator<Item = &str> {
    let all = std::iter::once(&against.p50).chain(tail_of(against));
    all.filter_map(|judged| match &judged.verdict {
        Verdict::TooFew { why } | Verdict::TooDisturbed { why } | Verdict::NotComparable { why } => Some(why.as_str()),
        Verdict::Differs | Verdict::Overlap => None,
    })
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

fn columns<'a>(comparison: &'a Comparison, reasons: &'a Reasons<'_>) -> Columns<'a, &'a SeriesComparison> {
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
    columns.words("verdict", |series| verdicts(series, reasons))
}

/// A series and the place of one of its sides.
type Row<'a> = (&'a SeriesComparison, usize);

/// As [`columns`], with a row for each result of a series.
fn below_one_another<'a>(comparison: &'a Comparison, reasons: &'a Reasons<'_>) -> Columns<'a, Row<'a>> {
    let first = |text: String, place: usize| if place == 0 { text } else { String::new() };
    let mut columns = Columns::new()
        .words("series", move |(series, place): &Row<'_>| first(name(comparison, series), *place))
        .words("in", |(series, place)| letter(series.sides[*place].result));
    for (head, figure, ratio, value_rank, ratio_rank) in FIGURES {
        let cell = move |(series, place): &Row<'_>| {
            let side = &series.sides[*place];
            let is_few = head == "p50" && side.count < MEDIAN_MIN;
            Some(format!("{}{}", if is_few { "~" } else { "" }, value(series.unit, figure(side)?)))
        };
        columns = columns.figure(head, cell).rank(value_rank);
        let cell = move |(series, place): &Row<'_>| {
            let (ratio, differs) = ratio(series.sides[*place].against_base.as_ref()?)?;
            Some(times(ratio).toned(if differs { Tone::Strong } else { Tone::Soft }))
        };
        columns = columns.figure("of A's", cell).rank(ratio_rank);
    }
    columns.words("verdict", |(series, place)| {
        let against = series.sides[*place].against_base.as_ref()?;
        let tone = if rank(&against.p50) == 0 { Tone::Warn } else { Tone::Soft };
        Some(verdict_of(against, reasons).toned(tone))
    })
}

/// A ratio with three digits: `0.215`, `1.50`, `222`.
pub(super) fn times(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 100.0 => format!("{ratio:.0}"),
        ratio if ratio >= 10.0 => format!("{ratio:.1}"),
        ratio if ratio >= 0.995 => format!("{ratio:.2}"),
        ratio if ratio >= 0.001 => format!("{ratio:.3}"),
        ratio => format!("{ratio:.1e}"),
    }
}

/// The series' key, with its name elsewhere, and with what distinguishes it from another of the same key.
fn name(comparison: &Comparison, series: &SeriesComparison) -> String {
    let called = |side: &Side| {
        let pace = side.pace.map(|pace| format!(", {pace}")).unwrap_or_default();
        Some(format!("{}{pace}", side.subject.as_ref()?))
    };
    let elsewhere = distinct(series.sides.iter().filter_map(called)).join("; ");
    if series.experiment == ExperimentId::Y1 {
        let own = observed(series);
        // The only other waits of the same thread.
        let elsewhere = series.sides.iter().filter(|side| side.subject.is_some() || side.requested_ns.is_some());
        let named = elsewhere.map(|side| {
            let call = side.subject.as_deref().unwrap_or(&own.call);
            let span = side.requested_ns.or(own.requested_ns).map(|span| format!(" for {span}")).unwrap_or_default();
            format!("{}: {call}{span}", letter(side.result))
        });
        let named = distinct(named).join("; ");
        return if named.is_empty() { own.to_string() } else { format!("{own} / {named}") };
    }
    let key = if elsewhere.is_empty() { series.key.to_string() } else { format!("{} / {elsewhere}", series.key) };
    if comparison.series.iter().filter(|other| other.key == series.key).count() < 2 {
        return key;
    }
    let pace = series.pace.map(|pace| format!("{pace}, ")).unwrap_or_default();
    format!("{key} ({pace}{})", series.conditions)
}

/// What observed waits have in common.
pub(super) fn observed(series: &SeriesComparison) -> Identity {
    Identity::stated(&series.labels, &series.subject, series.requested_ns)
}

fn verdicts(series: &SeriesComparison, reasons: &Reasons<'_>) -> Cell {
    let verdicts = judged(series).map(|against| verdict_of(against, reasons));
    let tone = if best_rank(series) == 0 { Tone::Warn } else { Tone::Soft };
    verdicts.collect::<Vec<_>>().join("; ").toned(tone)
}

/// The judgement of the tail, where it is another than that of the median.
fn tail_of(against: &AgainstBase) -> Option<&Judgement> {
    against.p99.as_ref().filter(|p99| rank(p99) != rank(&against.p50))
}

fn verdict_of(against: &AgainstBase, reasons: &Reasons<'_>) -> String {
    let median = verdict(&against.p50, true, reasons);
    let tail = tail_of(against).map(|p99| format!(", p99 {}", verdict(p99, false, reasons)));
    format!("{median}{}", tail.unwrap_or_default())
}

fn verdict(judged: &Judgement, with_interval: bool, reasons: &Reasons<'_>) -> String {
    match &judged.verdict {
        Verdict::Differs => "differs".to_owned(),
        Verdict::Overlap if judged.is_the_same() => THE_SAME.to_owned(),
        Verdict::Overlap => match judged.ratio_interval.filter(|_| with_interval) {
            Some([low, high]) => format!("inconclusive ({} to {})", times(low), times(high)),
            None => "inconclusive".to_owned(),
        },
        Verdict::TooFew { why } | Verdict::TooDisturbed { why } => {
            format!("inconclusive{}", reasons.after_verdict(why))
        }
        Verdict::NotComparable { why } => format!("not comparable{}", reasons.after_verdict(why)),
    }
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

/// The most subjects of an experiment that are named in a sentence.
const SUBJECTS_NAMED_MAX: usize = 4;

/// Experiments with their subjects: `B5 nanosleep, usleep; D4 futex`.
fn subjects(series: &[&SeriesComparison]) -> String {
    let mut by_experiment: BTreeMap<ExperimentId, Vec<&str>> = BTreeMap::new();
    series.iter().for_each(|one| {
        by_experiment.entry(one.experiment).or_default().push(subject_in_words(one.quantity, &one.subject));
    });
    let mut is_whole = true;
    let all = by_experiment.into_iter().map(|(id, subjects)| {
        let mut names: Vec<String> = distinct(subjects).into_iter().map(str::to_owned).collect();
        if names.len() > SUBJECTS_NAMED_MAX + 1 {
            is_whole = false;
            let more = names.split_off(SUBJECTS_NAMED_MAX).len();
            names.push(format!("{more} more"));
        }
        format!("{id} {}", names.join(", "))
    });
    let all = all.collect::<Vec<_>>().join("; ");
    if is_whole { all } else { format!("{all}. --full lists them") }
}

fn unmatched_columns<'a>(comparison: &'a Comparison) -> Columns<'a, &'a SeriesComparison> {
    let mut columns = Columns::new().words("series", |series: &&SeriesComparison| name(comparison, series));
    for index in indices(comparison).filter(|_| !is_over(comparison, MANY)) {
        columns = columns.figure(format!("{} p50", letter(index)), move |series| {
            Some(value(series.unit, value_of(series.side(index)?.p50)?))
        });
    }
    if is_over(comparison, MANY) {
        columns = columns.words("p50", |series| {
            let side =
                |side: &Side| Some(format!("{} {}", letter(side.result), value(series.unit, value_of(side.p50)?)));
            series.sides.iter().filter_map(side).collect::<Vec<_>>().join(", ")
        });
    }
    columns.words("why not elsewhere", |series| {
        let why = |side: &Side| Some(format!("{}: {}", letter(side.result), side.unavailable.as_ref()?));
        let reasons: Vec<String> = series.sides.iter().filter_map(why).collect();
        if reasons.is_empty() { UNKNOWN.to_owned() } else { reasons.join("; ") }.toned(Tone::Soft)
    })
}
