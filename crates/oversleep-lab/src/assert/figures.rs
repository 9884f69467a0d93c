//! Where a figure lies with 99 % confidence.
//!
//! Values in a row aren't independent: one disturbance makes many of them late. So percentiles beyond the median rest on
//! those of the rounds, which are spread over the whole run, and need ten of them. Files of other programs have no rounds;
//! their values are all that there is, and the message says so.

use oversleep_explain::compare::interval_of_median;
use oversleep_record::assertion::Unit;
use oversleep_record::comparison::Interval;
use oversleep_record::distribution::{Beyond, Distribution};
use oversleep_record::quantile_interval::{NORMAL, of_quantile};
use oversleep_record::series::{self, Round};
use oversleep_record::words::{counted as counted_words, grouped};
use oversleep_record::{ClockResult, ResultFile, Series};

use super::Figure;
use super::targets::Target;

/// Fewest rounds for an interval of a percentile beyond the median.
pub const ROUNDS_MIN: usize = 10;

/// A figure and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Their unit.
    pub unit: Unit,
    /// What has to be known of it.
    pub note: Option<&'static str>,
}

impl Estimate {
    /// A figure that is no estimate.
    pub fn exact(value: f64, unit: Unit) -> Estimate {
        Estimate { value, low: value, high: value, unit, note: None }
    }
}

const GROWS: &str = "a maximum grows with the number of values";
const ALONE: &str = "from the values alone, because the file has no rounds, or fewer than ten";

/// A figure of what an assertion is about; `is_counted` says whether a number is compared and not a share.
///
/// # Errors
/// Why there is none, with what would give it.
pub fn of(file: &ResultFile, target: &Target, figure: Figure, is_counted: bool) -> Result<Estimate, String> {
    let is_of_schedule = matches!((target, figure), (Target::Series(_), Figure::Missed | Figure::Backward));
    if let Some(imported) = file.imported.as_ref().filter(|_| is_of_schedule) {
        return Err(format!("{} doesn't state it", imported.program));
    }
    match (target, figure) {
        (Target::Series(series), Figure::Missed | Figure::Early | Figure::Backward) => {
            counted(series, figure, is_counted)
        }
        (Target::Series(series), Figure::Steal) => {
            let disturbance = series.disturbance();
            let share = disturbance.share(disturbance.steal_ns).ok_or("the hypervisor's time isn't known here")?;
            Ok(Estimate::exact(share, Unit::Share))
        }
        (Target::Series(series), _) => of_series(file, series, figure),
        (Target::Part(series, part, values), _) => {
            let seen = series.why.as_ref().ok_or("the parts of its lateness weren't observed")?;
            if file.observation.as_ref().is_some_and(|observation| observation.unseen.contains(part)) {
                return Err(format!("'{}' is a part that this recording doesn't show", part.name()));
            }
            if figure == Figure::Share {
                return Ok(Estimate::exact(seen.share(*part), Unit::Share));
            }
            // A part that is missing was always 0.
            let none = Distribution::of_equal(0, seen.count());
            values_alone(values.unwrap_or(&none), figure)
        }
        (Target::Periods(_, periods, _), Figure::Missed) => {
            let count = periods.split.count();
            Ok(share_or_count(periods.missed_count, count.saturating_add(periods.missed_count), is_counted))
        }
        (Target::Periods(_, periods, None), _) => values_alone(periods.lengths().ok_or("no period was seen")?, figure),
        (Target::Periods(_, periods, Some(part)), Figure::Share) => {
            Ok(Estimate::exact(periods.split.share(*part), Unit::Share))
        }
        (Target::Periods(_, periods, Some(part)), _) => {
            let none = Distribution::of_equal(0, periods.split.count());
            values_alone(periods.split.parts.get(part).unwrap_or(&none), figure)
        }
        (Target::Clock(clock), _) => of_clock(file, clock, figure),
        (Target::Cause(cause), _) => {
            let share = cause.share.ok_or("it explains no part of the lateness")?;
            Ok(Estimate::exact(share, Unit::Share))
        }
    }
}

/// A percentile, the mean or the maximum of a series.
///
/// # Errors
/// Why there is none.
pub fn of_series(file: &ResultFile, series: &Series, figure: Figure) -> Result<Estimate, String> {
    let values = &series.distribution;
    if values.is_empty() && figure != Figure::Max {
        return Err(without_sizes(series));
    }
    let in_ns = match series.unit {
        series::Unit::Ns => 1.0,
        series::Unit::Ps => 1e-3,
        series::Unit::Hz | series::Unit::Mw => return Err("its values are no spans of time".to_owned()),
    };
    let of_floor = file.floor.as_ref().filter(|_| series.unit == series::Unit::Ns);
    let step = of_floor.map_or(0, |floor| floor.step_ns.0.max(0));
    let rounds = &series.rounds;
    let estimate = match figure {
        Figure::Quantile(share) if rounds.is_empty() => Estimate { note: Some(ALONE), ..by_rank(values, share, step)? },
        Figure::Quantile(share) if share <= 0.5 => {
            let medians: Vec<i64> = rounds.iter().filter_map(|round| round.median).collect();
            let interval =
                interval_of_median(values, &medians, step).ok_or_else(|| too_few(values, medians.len(), 2))?;
            estimated(values.quantile(share), interval)?
        }
        Figure::Quantile(share) => by_rounds(values, rounds, share, step)?,
        Figure::Mean => mean(values, rounds)?,
        Figure::Max => {
            let max = values.max().ok_or_else(|| without_sizes(series))? as f64;
            Estimate { note: Some(GROWS), ..Estimate::exact(max, Unit::Ns) }
        }
        Figure::Cost if series.quantity == series::Quantity::Cost => {
            return of_series(file, series, Figure::Quantile(0.5));
        }
        Figure::Step if series.quantity == series::Quantity::Step => {
            return of_series(file, series, Figure::Quantile(0.5));
        }
        _ => return Err(format!("a series has no figure '{}'", figure.name())),
    };
    let Estimate { value, low, high, .. } = estimate;
    Ok(Estimate { value: value * in_ns, low: low * in_ns, high: high * in_ns, ..estimate })
}

/// What is said of a series whose values have no size.
fn without_sizes(series: &Series) -> String {
    match &series.beyond {
        Some(Beyond { count, max: Some(_), .. }) => {
            format!("of its {}, only the largest has a known size; `max` can be judged", counted_words(*count, "value"))
        }
        Some(Beyond { count, .. }) => {
            format!("{} beyond what the program recorded have no known size", counted_words(*count, "value"))
        }
        None => "it has no values".to_owned(),
    }
}

/// A figure of values that have no rounds of their own.
fn values_alone(values: &Distribution, figure: Figure) -> Result<Estimate, String> {
    if values.is_empty() {
        return Err("it has no values".to_owned());
    }
    match figure {
        Figure::Quantile(share) => by_rank(values, share, 0),
        Figure::Mean => mean(values, &[]),
        Figure::Max => {
            let max = values.max().ok_or("values lie beyond what was recorded")? as f64;
            Ok(Estimate { note: Some(GROWS), ..Estimate::exact(max, Unit::Ns) })
        }
        _ => Err(format!("it has no figure '{}'", figure.name())),
    }
}

fn by_rank(values: &Distribution, share: f64, step: i64) -> Result<Estimate, String> {
    let interval = of_quantile(values, share, step).ok_or_else(|| beyond(values, share))?;
    estimated(values.quantile(share), interval)
}

/// A percentile beyond the median: between the order statistics of the rounds' percentiles, and no narrower than the ranks
/// of the values.
fn by_rounds(values: &Distribution, rounds: &[Round], share: f64, step: i64) -> Result<Estimate, String> {
    let of_round = |round: &Round| if share > 0.9 { round.p99 } else { round.p90 };
    let kept: Vec<i64> = rounds.iter().filter_map(of_round).collect();
    if kept.len() < ROUNDS_MIN {
        // A round knows a percentile if a value lies beyond it.
        let each = if share > 0.9 { 100 } else { 10 };
        let (enough, all) = (kept.len(), counted_words(rounds.len() as u64, "round"));
        return Err(format!(
            "it takes {} values, in {ROUNDS_MIN} rounds of {each}; {enough} of its {all} have as many; measure or record for longer",
            grouped((ROUNDS_MIN * each) as u64)
        ));
    }
    let ranks = of_quantile(values, share, step).ok_or_else(|| beyond(values, share))?;
    let mut of_rounds = Distribution::growing();
    kept.iter().for_each(|&value| of_rounds.record(value));
    let spread = of_quantile(&of_rounds, 0.5, step).ok_or_else(|| too_few(values, kept.len(), ROUNDS_MIN))?;
    // Rounds keep no percentile beyond the 99th, so theirs is the least that a higher one can be.
    let high = if share > 0.99 { ranks.high } else { ranks.high.max(spread.high) };
    estimated(values.quantile(share), Interval { low: ranks.low.min(spread.low), high })
}

fn estimated(value: Option<i64>, interval: Interval) -> Result<Estimate, String> {
    let value = value.ok_or("it lies beyond what the program recorded")? as f64;
    Ok(Estimate { value, low: interval.low as f64, high: interval.high as f64, unit: Unit::Ns, note: None })
}

/// The mean: as the values vary, or as the medians of the rounds do, whichever is more.
fn mean(values: &Distribution, rounds: &[Round]) -> Result<Estimate, String> {
    let mean = values.mean().ok_or("values lie beyond what the program recorded")?;
    let count = values.count() as f64;
    let square = |(value, count): (i64, u64)| (value as f64 - mean).powi(2) * count as f64;
    let deviation = (values.buckets().map(square).sum::<f64>() / (count - 1.0).max(1.0)).sqrt();
    let medians: Vec<i64> = rounds.iter().filter_map(|round| round.median).collect();
    let Some(of_median) = (match medians.len() {
        0 => of_quantile(values, 0.5, 0),
        _ => interval_of_median(values, &medians, 0),
    }) else {
        return Err(too_few(values, medians.len(), 2));
    };
    let half = (NORMAL * deviation / count.sqrt()).max((of_median.high - of_median.low) as f64 / 2.0);
    let note = rounds.is_empty().then_some(ALONE);
    Ok(Estimate { value: mean, low: mean - half, high: mean + half, unit: Unit::Ns, note })
}

fn counted(series: &Series, figure: Figure, is_counted: bool) -> Result<Estimate, String> {
    let counts = &series.counts;
    let (count, of) = match figure {
        Figure::Missed => (counts.missed, counts.expected.unwrap_or(counts.recorded)),
        Figure::Early => (counts.early, counts.recorded),
        _ => (counts.backward, counts.recorded),
    };
    if of == 0 {
        return Err("it has no values".to_owned());
    }
    Ok(share_or_count(count, of, is_counted))
}

/// The interval of Wilson of a share.
pub(crate) fn of_share(count: u64, of: u64) -> (f64, f64) {
    let (n, square) = (of.max(1) as f64, NORMAL * NORMAL);
    let share = count as f64 / n;
    let centre = (share + square / (2.0 * n)) / (1.0 + square / n);
    let half = NORMAL / (1.0 + square / n) * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    ((centre - half).max(0.0).min(share), (centre + half).min(1.0).max(share))
}

/// A number as it is, or a share with its interval.
fn share_or_count(count: u64, of: u64, is_counted: bool) -> Estimate {
    if is_counted {
        return Estimate::exact(count as f64, Unit::Count);
    }
    let (low, high) = of_share(count, of);
    let share = count as f64 / of.max(1) as f64;
    Estimate { value: share, low, high, unit: Unit::Share, note: None }
}

fn of_clock(file: &ResultFile, clock: &ClockResult, figure: Figure) -> Result<Estimate, String> {
    if let Some(why) = &clock.unavailable {
        return Err(format!("the clock is not available: {why}"));
    }
    let steps = || clock.steps.ok_or("its steps were not measured; `oversleep clocks` does");
    match figure {
        Figure::Step => {
            let step = steps()?.median_ns.ok_or("it did not move while it was read")?;
            Ok(Estimate::exact(step.0 as f64, Unit::Ns))
        }
        Figure::Backward => {
            let steps = steps()?;
            let count = steps.backward_on_one_thread.saturating_add(steps.backward_across_cpus);
            Ok(Estimate::exact(count as f64, Unit::Count))
        }
        _ => {
            let key = clock.cost_series.as_ref().ok_or("its cost was not measured; `oversleep clocks` does")?;
            let series = file.series(key).ok_or("its cost is not in the result")?;
            let figure = if figure == Figure::Cost { Figure::Quantile(0.5) } else { figure };
            of_series(file, series, figure)
        }
    }
}

fn too_few(values: &Distribution, rounds: usize, least: usize) -> String {
    match rounds < least {
        true => format!("{rounds} of the {least} rounds that it needs; measure or record for longer"),
        false => format!("{}; measure more", few(values)),
    }
}

fn beyond(values: &Distribution, share: f64) -> String {
    let need = (5.3 / (1.0 - share)).ceil();
    if values.count() as f64 >= need && values.beyond().is_some() {
        return "its interval reaches values beyond what the program recorded, whose size isn't known".to_owned();
    }
    format!("it takes about {} values for that percentile; it has {}", grouped(need as u64), grouped(values.count()))
}

fn few(values: &Distribution) -> String {
    let are = if values.count() == 1 { "is" } else { "are" };
    format!("{} {are} too few", counted_words(values.count(), "value"))
}
