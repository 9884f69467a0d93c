//! Clocks of several results: their cost, where they are valid, and their steps.

use oversleep_explain::compare::{CommonClock, common_clocks, fastest_on_all};
use oversleep_record::Nanos;
use oversleep_record::clock::Validity;
use oversleep_record::comparison::{ClockComparison, ClockSide, Comparison};

use super::series::{MANY, is_over, times};
use super::{indices, letter};
use crate::view::table::{Cell, Columns, Section, ToCell, Tone};
use crate::words::{cost, counted};

/// A brief report shows the steps of a clock if they differ by this factor: those of fine clocks vary with the cost of
/// a read.
const STEP_FACTOR_MIN: f64 = 2.0;
/// The most results with a column of costs each.
const COSTS_MAX: usize = 6;

/// Which clocks are valid where, and which is the fastest valid on all; nothing unless two results measured clocks.
pub(super) fn common(comparison: &Comparison, full: bool) -> Option<Section> {
    let sentence = fastest_on_all(comparison)?;
    let all = common_clocks(comparison);
    let (shown, left): (Vec<&CommonClock<'_>>, Vec<&CommonClock<'_>>) =
        all.iter().partition(|clock| full || clock.valid_in.len() > 1);
    let mut columns = Columns::new().words("clock", |clock: &&CommonClock<'_>| clock.clock.name.as_str());
    for (result, rank) in indices(comparison).zip(1_u8..).filter(|_| comparison.results.len() <= COSTS_MAX) {
        columns = columns
            .figure(format!("{} read", letter(result)), move |clock| {
                let side = side(clock.clock, result)?;
                let tone = if side.validity == Some(Validity::Valid) { Tone::Plain } else { Tone::Soft };
                Some(cost(side.cost_ps?).toned(tone))
            })
            .rank(rank);
    }
    columns = columns
        .words("valid on", |clock| {
            let text = match (clock.is_valid_on_all, &clock.valid_in[..]) {
                (true, _) => "all".to_owned(),
                (false, []) => "none".to_owned(),
                (false, some) => letters(some),
            };
            let only = if clock.is_for_one_thread { ", on one thread" } else { "" };
            format!("{text}{only}").toned(if clock.is_valid_on_all { Tone::Good } else { Tone::Plain })
        })
        .words("why not elsewhere", |clock| why_not(clock).toned(Tone::Soft));
    let table = columns.table("Cost of a read, and where each clock is valid for elapsed time", shown);
    let note = (!left.is_empty())
        .then(|| format!("{} valid on one machine or none; --full shows them.", counted(left.len(), "more clock")));
    Some(Section::new("clocks", "Clocks: valid on which machines").notes([sentence]).tables(table).notes(note))
}

/// Why a clock is not valid in the results where it isn't, each reason once with the results it concerns.
fn why_not(clock: &CommonClock<'_>) -> String {
    let mut reasons: Vec<(String, Vec<u32>)> = Vec::new();
    for side in clock.clock.sides.iter().filter(|side| !clock.valid_in.contains(&side.result)) {
        let why = match &side.unavailable {
            Some(reason) => reason.to_string(),
            None => side.reasons.join(", "),
        };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, results)) => results.push(side.result),
            None => reasons.push((why, vec![side.result])),
        }
    }
    let reasons = reasons.into_iter().filter(|(why, _)| !why.is_empty());
    reasons.map(|(why, results)| format!("{}: {why}", letters(&results))).collect::<Vec<_>>().join("; ")
}

fn letters(results: &[u32]) -> String {
    results.iter().copied().map(letter).collect::<Vec<_>>().join(", ")
}

/// The steps of the clocks: one figure each, so no verdict is possible.
pub(super) fn steps(comparison: &Comparison, full: bool) -> Option<Section> {
    let shared: Vec<&ClockComparison> = comparison.clocks.iter().filter(|clock| clock.sides.len() > 1).collect();
    let is_shown = |clock: &&&ClockComparison| full || indices(comparison).any(|index| is_far(clock, index));
    let shown: Vec<&ClockComparison> = shared.iter().filter(is_shown).copied().collect();
    let alike = shared.len() - shown.len();
    let columns = if is_over(comparison, MANY) { by_result() } else { side_by_side(comparison) };
    let rows = shown.iter().flat_map(|clock| {
        let rows = if is_over(comparison, MANY) { groups(clock) } else { vec![Vec::new()] };
        rows.into_iter().enumerate().map(|(place, results)| (*clock, place, results))
    });
    let table = columns.table("Observed step of each clock; in brackets the step that the system states", rows);
    let more = if table.is_some() { " more" } else { "" };
    let note = format!("{}{more} within a factor of two of the base; --full shows them.", counted(alike, "clock"));
    let single = table.is_some().then(|| "Each is one figure, so there is no verdict.".to_owned());
    (!shared.is_empty()).then(|| {
        let section = Section::new("clock-steps", "Clocks: steps");
        section.tables(table).notes(single).notes((alike > 0).then_some(note))
    })
}

/// A clock, the place of the row among its rows, and the results that the row is about.
type Row<'a> = (&'a ClockComparison, usize, Vec<u32>);

fn side_by_side(comparison: &Comparison) -> Columns<'static, Row<'_>> {
    let mut columns = Columns::new().words("clock", |(clock, ..): &Row<'_>| clock.name.as_str().to_owned());
    for index in indices(comparison) {
        columns =
            columns.figure(format!("{} step", letter(index)), move |(clock, ..)| Some(step_text(side(clock, index)?)));
        if index > 0 {
            columns = columns.figure(format!("{}/A", letter(index)), move |(clock, ..)| ratio_cell(clock, index));
        }
    }
    columns
}

fn by_result<'a>() -> Columns<'static, Row<'a>> {
    let first = |results: &[u32]| results.first().copied().unwrap_or_default();
    Columns::new()
        .words("clock", |(clock, place, _): &Row<'_>| if *place == 0 { clock.name.clone() } else { String::new() })
        .figure("step", move |(clock, _, results)| Some(step_text(side(clock, first(results))?)))
        .figure("of A's", move |(clock, _, results)| ratio_cell(clock, first(results)))
        .words("in", |(_, _, results)| letters(results))
}

/// The results of a clock that show the same step, those of the base first.
fn groups(clock: &ClockComparison) -> Vec<Vec<u32>> {
    let mut groups: Vec<(Cell, Vec<u32>)> = Vec::new();
    for side in &clock.sides {
        let text = step_text(side);
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, results)) => results.push(side.result),
            None => groups.push((text, vec![side.result])),
        }
    }
    groups.into_iter().map(|(_, results)| results).collect()
}

/// The step that the system states, in brackets, if none was observed.
fn step_text(side: &ClockSide) -> Cell {
    side.step_ns.map(|step| step.to_string()).or(side.stated_step_ns.map(|step| format!("({step})"))).to_cell()
}

fn ratio_cell(clock: &ClockComparison, index: u32) -> Option<Cell> {
    let tone = if is_far(clock, index) { Tone::Strong } else { Tone::Soft };
    Some(times(step_ratio(clock, index)?).toned(tone))
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
