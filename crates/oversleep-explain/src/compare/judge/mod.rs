//! Judges whether two figures differ by more than their uncertainty.

use oversleep_record::comparison::{AgainstBase, Estimate, Interval, Judgement, Side, Verdict};
use oversleep_record::conditions::Outcome;
use oversleep_record::series::{Status, Unit};
use oversleep_record::stats::{self, ROUNDS_MIN, SPREAD_FLOOR, SPREAD_MAX, Steadiness, VALUES_MIN};
use oversleep_record::words::{counted, percent};
use oversleep_record::{Distribution, ExperimentId, Nanos, ResultFile, Series};

mod parts;

use super::caveats::{self, BUSY_SHARE, RECORDERS_WITHIN_NS};
use super::interval;
use crate::figures::{cpus, in_median_round, interference, per_value, values};

/// Series of one run are of the same waits if their numbers differ by no more than one in so many.
const SAME_WAITS_OF: u64 = 20;

/// One series with the parts of its result that the verdict needs.
struct Measured<'a> {
    file: &'a ResultFile,
    series: &'a Series,
    p50: Option<Estimate>,
    p99: Option<Estimate>,
    /// A name for its result in sentences.
    name: &'static str,
}

/// A series of the base.
pub(super) fn base_side(base: &ResultFile, series: &Series) -> Side {
    Measured::of(base, series, true).side(0, None)
}

/// What a series is compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub base: &'a ResultFile,
    /// Its index there, if the base has it.
    pub in_base: Option<usize>,
    /// Both results are of one run.
    pub of_one_run: bool,
}

/// A series of another result, compared with that of the base if the base has it.
pub(super) fn side(pair: &Pair<'_>, file: &ResultFile, series: &Series, result: u32) -> Side {
    let measured = Measured::of(file, series, false);
    let base = pair.in_base.map(|at| Measured::of(pair.base, &pair.base.series[at], true));
    let base = base.filter(|base| base.is_available() && measured.is_available());
    let judged = base.map(|base| match pair.of_one_run && are_same_waits(&base, &measured) {
        true => against_itself(&base, &measured),
        false => against(&base, &measured),
    });
    measured.side(result, judged)
}

/// Whether two series of one run have nearly the same waits: a recorder may begin later, or lose some.
fn are_same_waits(base: &Measured<'_>, other: &Measured<'_>) -> bool {
    let (one, two) = (values(base.series).count(), values(other.series).count());
    one.abs_diff(two).saturating_mul(SAME_WAITS_OF) <= one.max(two)
}

/// The interval of a median. A program that was observed before results had slices of the time has no rounds, and neither
/// have values that another program measured: their own spread is all there is.
fn interval_of_median(
    (file, series): (&ResultFile, &Series),
    values: &Distribution,
    rounds: &[i64],
    step: i64,
) -> Option<Interval> {
    match series.rounds.is_empty() && (series.observed.is_some() || file.imported.is_some()) {
        true => interval::of_quantile(values, 0.5, step),
        false => interval::of_median(values, rounds, step),
    }
}

/// What the times of a result are rounded to.
fn step(file: &ResultFile) -> i64 {
    let recorder = file.observation.as_ref().and_then(|observation| observation.resolution_ns);
    file.floor.as_ref().map(|floor| floor.step_ns).or(recorder).map_or(0, |step| step.0.max(0))
}

impl<'a> Measured<'a> {
    fn of(file: &'a ResultFile, series: &'a Series, is_base: bool) -> Measured<'a> {
        let step = if series.unit == Unit::Ns { step(file) } else { 0 };
        let values = values(series);
        let rounds: Vec<i64> = series.rounds.iter().filter_map(|round| round.median).collect();
        let estimate = |value: Option<i64>, interval| value.map(|value| Estimate { value, interval });
        Measured {
            file,
            series,
            p50: estimate(values.p50(), interval_of_median((file, series), values, &rounds, step)),
            p99: estimate(values.safe_quantile(0.99), interval::of_quantile(values, 0.99, step)),
            name: if is_base { "the base" } else { "this result" },
        }
    }

    fn is_available(&self) -> bool {
        !matches!(self.series.status, Status::Unavailable { .. })
    }

    fn rounds(&self) -> usize {
        self.series.rounds.iter().filter(|round| round.median.is_some()).count()
    }

    fn side(&self, result: u32, against_base: Option<AgainstBase>) -> Side {
        Side {
            result,
            subject: None,
            requested_ns: None,
            pace: None,
            unavailable: match &self.series.status {
                Status::Unavailable { reason } => Some(reason.clone()),
                _ => None,
            },
            rounded_ns: self.series.rounded_ns,
            count: values(self.series).count(),
            rounds: self.rounds() as u64,
            missed: self.series.counts.missed,
            mean: values(self.series).mean().map(|mean| mean.round() as i64),
            p50: self.p50,
            p99: self.p99,
            max: values(self.series).max(),
            parts: parts::of(self.series, step(self.file)),
            against_base,
        }
    }

    /// The verdict for too few values or rounds.
    fn too_few(&self) -> Verdict {
        let values = counted(values(self.series).count(), "value");
        let why = format!("{} has only {values} in {}", self.name, counted(self.rounds() as u64, "round"));
        Verdict::TooFew { why }
    }

    /// Why its figures are unreliable, whatever they are compared with.
    fn weakness(&self) -> Option<Verdict> {
        // A program's delays come and go: the slices of an observed run differ because of what is observed, and the interval
        // allows for that.
        let steadiness = Some(stats::steadiness(self.series)).filter(|_| self.series.observed.is_none());
        if let Some(Steadiness::Disturbed(spread)) = steadiness {
            let why = format!("the rounds of {} disagree by {}", self.name, percent(spread));
            return Some(Verdict::TooDisturbed { why });
        }
        let lacks_interval = self.p50.is_none_or(|p50| p50.interval.is_none());
        lacks_interval.then(|| self.too_few())
    }

    /// Why the comparison is inconclusive, if a narrower interval might have shown a difference.
    fn vagueness(&self) -> Option<Verdict> {
        let p50 = self.p50?;
        let Interval { low, high } = p50.interval?;
        let half = (high as f64 - low as f64) / 2.0;
        if half <= SPREAD_FLOOR || half <= SPREAD_MAX * p50.value.unsigned_abs() as f64 {
            return None;
        }
        if values(self.series).count() < VALUES_MIN || self.rounds() < ROUNDS_MIN {
            return Some(self.too_few());
        }
        let why = format!("the rounds of {} leave its median uncertain by more than half", self.name);
        Some(Verdict::TooDisturbed { why })
    }

    /// Why other activity may explain a difference of that size: the hypervisor, or other programs that kept the thread
    /// waiting for a CPU.
    fn interference(&self, effect: Nanos) -> Option<Verdict> {
        if self.series.unit != Unit::Ns || !self.series.conditions.load.is_empty() {
            return None;
        }
        let cpus = cpus(self.file).unwrap_or(1);
        let others_permille = in_median_round(self.series, |meanwhile, _| {
            Some((meanwhile.share(meanwhile.other_cpu_ns)? * 1e3) as i64 / cpus)
        });
        let is_busy = others_permille.is_some_and(|permille| permille as f64 >= BUSY_SHARE * 1e3);
        // The thread's own delay is exact; on an idle machine it is a part of waking up.
        let delayed = per_value(self.series, |meanwhile| meanwhile.run_delay_ns).filter(|_| is_busy);
        let waiting = delayed.map(|each| ("waiting for a CPU beside other programs", each));
        let (what, each) = interference(self.file, self.series, effect, waiting)?;
        Some(Verdict::TooDisturbed { why: format!("{what} took {each} of each value of {}", self.name) })
    }
}

/// The same waits, recorded twice: chance has no part in it.
fn against_itself(base: &Measured<'_>, other: &Measured<'_>) -> AgainstBase {
    // The lateness is a sum of parts, at both ends of which both recorders take time.
    let tools = 2 * by_tools(base, other);
    let judge = |one: Option<Estimate>, two: Option<Estimate>| match one.zip(two) {
        Some((one, two)) => of_same_waits(one.value, two.value, tools),
        None => judgement(one, two, base.too_few()),
    };
    let max = |measured: &Measured| values(measured.series).max().filter(|&max| max > 0);
    AgainstBase {
        p50: judge(base.p50, other.p50),
        p99: (base.p99.is_some() && other.p99.is_some()).then(|| judge(base.p99, other.p99)),
        max_ratio: max(base).zip(max(other)).map(|(base, other)| other as f64 / base as f64),
        parts: parts::against(base, other, true),
    }
}

/// Figures of the same waits: as they are, unless the recorders' own time may make more than the difference.
fn of_same_waits(one: i64, two: i64, by_tools: i64) -> Judgement {
    let exactly = |value: i64| Estimate { value, interval: Some(Interval { low: value, high: value }) };
    let within = |value: i64| {
        let (low, high) = (value.saturating_sub(by_tools), value.saturating_add(by_tools));
        Estimate { value, interval: Some(Interval { low, high }) }
    };
    if one == two {
        return Judgement { ratio: Some(1.0), ratio_interval: Some([1.0; 2]), verdict: Verdict::Overlap };
    }
    let judged = judgement(Some(exactly(one)), Some(exactly(two)), Verdict::Differs);
    match judged.verdict == Verdict::Differs && i64::try_from(one.abs_diff(two)).is_ok_and(|apart| apart <= by_tools) {
        true => judgement(Some(within(one)), Some(within(two)), Verdict::Overlap),
        false => judged,
    }
}

fn against(base: &Measured<'_>, other: &Measured<'_>) -> AgainstBase {
    let other_kind = || conditions_differ(base, other).or_else(|| clocks_differ(base, other));
    let weakness = other_kind().or_else(|| base.weakness()).or_else(|| other.weakness());
    let p50 = weakness.clone().unwrap_or_else(|| of_medians(base, other));
    let p99 = (base.p99.is_some() && other.p99.is_some()).then(|| weakness.unwrap_or_else(|| of_tails(base, other)));
    let max = |measured: &Measured| values(measured.series).max().filter(|&max| max > 0);
    AgainstBase {
        p50: judgement(base.p50, other.p50, p50),
        p99: p99.map(|verdict| judgement(base.p99, other.p99, verdict)),
        max_ratio: max(base).zip(max(other)).map(|(base, other)| other as f64 / base as f64),
        parts: parts::against(base, other, false),
    }
}

fn judgement(base: Option<Estimate>, other: Option<Estimate>, verdict: Verdict) -> Judgement {
    let ratio = |base: i64, other: i64| (base > 0 && other > 0).then(|| other as f64 / base as f64);
    let both = base.zip(other);
    let intervals = both.and_then(|(base, other)| base.interval.zip(other.interval));
    let of_values = both.and_then(|(base, other)| ratio(base.value, other.value));
    // Two figures within 2 % are the same wherever they stand, however certain the difference is.
    let verdict = match verdict {
        Verdict::Differs if of_values.is_some_and(Judgement::is_near_one) => Verdict::Overlap,
        other => other,
    };
    Judgement {
        ratio: of_values,
        ratio_interval: intervals
            .and_then(|(base, other)| Some([ratio(base.high, other.low)?, ratio(base.low, other.high)?])),
        verdict,
    }
}

/// If one result was refused a condition that the other was granted, the two measurements are not comparable.
fn conditions_differ(base: &Measured<'_>, other: &Measured<'_>) -> Option<Verdict> {
    let held =
        |measured: &Measured, name: &str| measured.series.conditions.outcomes.get(name).is_some_and(Outcome::holds);
    let name = base.series.conditions.requested.keys().find(|name| held(base, name) != held(other, name))?;
    let without = if held(base, name) { other } else { base };
    Some(Verdict::NotComparable { why: format!("{name} was refused in {}", without.name) })
}

/// `clock()` counts CPU time on one system and elapsed time on another: only the name is the same.
fn clocks_differ(base: &Measured<'_>, other: &Measured<'_>) -> Option<Verdict> {
    let counts = |measured: &Measured| {
        let clock = measured.series.subject.as_str();
        measured.file.clocks.iter().find(|known| known.name == clock).map(|known| known.counts.words())
    };
    let is_read = base.series.experiment == ExperimentId::A1;
    let (theirs, own) = counts(base).zip(counts(other)).filter(|(theirs, own)| is_read && theirs != own)?;
    Some(Verdict::NotComparable { why: format!("it counts {own} in {} and {theirs} in {}", other.name, base.name) })
}

/// Whether the two are further from each other than the tools differ that took them.
fn apart(base: Interval, other: Interval, by_tools: i64) -> bool {
    base.high.saturating_add(by_tools) < other.low || other.high.saturating_add(by_tools) < base.low
}

/// What is the recorders' own where these are two tools: for nearly all waits, each part agrees within this.
fn by_tools(base: &Measured<'_>, other: &Measured<'_>) -> i64 {
    if caveats::recorders(base.file, other.file).is_some() { RECORDERS_WITHIN_NS } else { 0 }
}

fn of_medians(base: &Measured<'_>, other: &Measured<'_>) -> Verdict {
    let (Some(from), Some(to)) = (base.p50, other.p50) else { return base.too_few() };
    let (Some(one), Some(two)) = (from.interval, to.interval) else { return base.too_few() };
    if apart(one, two, by_tools(base, other)) {
        let effect = Nanos(from.value.saturating_sub(to.value));
        return base.interference(effect).or_else(|| other.interference(effect)).unwrap_or(Verdict::Differs);
    }
    base.vagueness().or_else(|| other.vagueness()).unwrap_or(Verdict::Overlap)
}

fn of_tails(base: &Measured<'_>, other: &Measured<'_>) -> Verdict {
    let (Some(one), Some(two)) = (base.p99.and_then(|p99| p99.interval), other.p99.and_then(|p99| p99.interval)) else {
        return base.too_few();
    };
    if !apart(one, two, by_tools(base, other)) {
        return Verdict::Overlap;
    }
    let (later, bound) = if one.high < two.low { (other, one.high) } else { (base, two.high) };
    concentration(later, bound).unwrap_or(Verdict::Differs)
}

/// A tail that comes from one round is due to that round, not to the machine.
fn concentration(later: &Measured<'_>, bound: i64) -> Option<Verdict> {
    let (samples, rounds) = (&later.series.samples, &later.series.rounds);
    if later.series.observed.is_some() {
        return in_one_slice(later, bound);
    }
    if later.rounds() < ROUNDS_MIN {
        return Some(later.too_few());
    }
    let mut beyond = vec![0_u64; rounds.len()];
    for (start, _) in samples.start_ns.iter().zip(&samples.value).filter(|(_, value)| *value > bound) {
        let round = rounds.partition_point(|round| round.start_ns.0 <= start);
        if let Some(count) = beyond.get_mut(round.saturating_sub(1)) {
            *count += 1;
        }
    }
    let (most, all) = (beyond.iter().copied().max().unwrap_or(0), beyond.iter().sum::<u64>());
    if all == 0 {
        let why = format!("no raw samples show which rounds the tail of {} comes from", later.name);
        return Some(Verdict::TooFew { why });
    }
    let why =
        || format!("{most} of the {all} late values of {} come from one of its {} rounds", later.name, rounds.len());
    (most * 2 > all).then(|| Verdict::TooDisturbed { why: why() })
}

/// Whether most late values are of one slice of an observed program, whose values are known by the tails of slices.
fn in_one_slice(later: &Measured<'_>, bound: i64) -> Option<Verdict> {
    let tails: Vec<i64> = later.series.rounds.iter().filter_map(|round| round.p99).collect();
    let beyond = tails.iter().filter(|&&p99| p99 > bound).count();
    let why = || format!("the late values of {} come from one of its {} slices", later.name, tails.len());
    (tails.len() >= ROUNDS_MIN && beyond <= 1).then(|| Verdict::TooDisturbed { why: why() })
}

#[cfg(test)]
mod tests;
