//! The rule of throughput: T ≈ min(CPU rate, Q / park), with an effective Q.
//!
//! A park passes a queue of items only if there is something to do when it ends. If both sides park until the same tick,
//! it is chance which of them looks first. A worker that is first finds nothing and parks for another tick; then the queue
//! is full whoever is first. So with a probability p that the source is first, a queue passes in 2 − p ticks, and p changes
//! from run to run. A queue whose work is shorter than the difference between the two wake-ups passes more often: the worker
//! may empty it before the source looks, which then fills it again in the same tick. Parks that end independently of each
//! other are hardly ever in vain. Therefore parks in vain are counted, and the effective Q excludes them.
//!
//! At the knee, where a queue's work takes about as long as a park, neither limit holds by itself: the worker's own work
//! is a part of each turn, and the source refills the queue during some of it.

use oversleep_record::queue_labels;
use oversleep_record::words::percent;
use oversleep_record::{ExperimentId, Idling, Nanos, ResultFile, Series};

use super::mean_park;

/// One run of E2: its queue, its parks and its rate.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Its series.
    pub series: &'a Series,
    /// Items that the queue holds.
    pub queue: u64,
    /// The grid to which parks were delayed.
    pub grid: Option<Nanos>,
    /// The mean duration of a park; `None` if nothing parked.
    pub park: Option<Nanos>,
    /// The share of the parks after which there was something to do; 1 if that was not counted.
    pub useful: f64,
    /// Items per second.
    pub rate: f64,
}

impl Run<'_> {
    /// Q / park, in items per second, without parks in vain; infinite if nothing parked.
    fn queue_per_park(&self) -> f64 {
        match self.park.filter(|&park| park > Nanos::ZERO) {
            Some(park) => self.useful * self.queue as f64 / park.as_secs_f64(),
            None => f64::INFINITY,
        }
    }
}

/// Every run of E2 that has a rate.
pub fn runs<'a>(file: &'a ResultFile) -> Vec<Run<'a>> {
    let run = |series: &'a Series| {
        // The mean, so that each round counts alike: where it is random whether a queue passes in one park or in two, a
        // median jumps.
        let rate = series.distribution.mean().filter(|&rate| rate > 0.0)?;
        let (queue, grid) = (series.label(queue_labels::QUEUE)?, series.label(queue_labels::GRID));
        let useful = 1.0 - series.idling.as_ref().and_then(Idling::vain_share).unwrap_or(0.0);
        Some(Run { series, queue, grid, park: mean_park(series), useful, rate })
    };
    file.experiment(ExperimentId::E2).filter_map(run).collect()
}

/// The rule with its two figures. If the runs don't show one of the two limits, its figure is unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParkRule {
    /// Items per second when parks don't matter.
    pub cpu_rate: Option<f64>,
    /// The effective Q of a park that is not in vain, as a share of the queue's size.
    pub queue_share: Option<f64>,
}

/// How far the rates differ from the rule's predictions, as factors of at least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// The median factor.
    pub median: f64,
    /// The largest factor.
    pub worst: f64,
}

/// How far a rate is off its prediction, in words: `21 %`, from the factor between the two. In whole percent, rounded up,
/// because a residual isn't an exact figure.
pub fn off_in_words(factor: f64) -> String {
    percent(((factor - 1.0) * 100.0).ceil().max(1.0) / 100.0)
}

/// One limit alone explains all runs if its squared residuals are at most this many times those of both limits, or this
/// small.
const ONE_LIMIT_LEAVES: f64 = 3.0;
const ONE_LIMIT_WITHIN: f64 = 0.05;
/// The knee: parks allow from this share of the CPU rate up to that multiple of it. A park that is three times as long as
/// the queue's work leaves the prediction a third too high at most, because the work adds that much to a turn.
const KNEE: std::ops::Range<f64> = 1.0 / 3.0..1.5;

impl ParkRule {
    /// From two runs alone: one that is bound by the CPU, one that is bound by its parks.
    pub fn of_two(cpu_bound: &Run<'_>, park_bound: &Run<'_>) -> ParkRule {
        ParkRule {
            cpu_rate: Some(cpu_bound.rate),
            queue_share: Some(park_bound.rate / park_bound.queue_per_park()).filter(|share| share.is_normal()),
        }
    }

    /// The limit that the parks of a run set.
    fn by_parks(&self, run: &Run<'_>) -> f64 {
        self.queue_share.map_or(f64::INFINITY, |share| share * run.queue_per_park())
    }

    /// The predicted rate of a run; `None` if the limit of that run is unknown.
    pub fn of(&self, run: &Run<'_>) -> Option<f64> {
        Some(self.cpu_rate.unwrap_or(f64::INFINITY).min(self.by_parks(run))).filter(|rate| rate.is_finite())
    }

    /// Whether parks bound that run, by the rule.
    pub fn is_bound_by_parks(&self, run: &Run<'_>) -> bool {
        self.by_parks(run) < self.cpu_rate.unwrap_or(f64::INFINITY)
    }

    /// Whether the two limits of a run are so close to each other that both matter: the rule doesn't apply there.
    pub fn is_at_knee(&self, run: &Run<'_>) -> bool {
        self.cpu_rate.is_some_and(|rate| KNEE.contains(&(self.by_parks(run) / rate)))
    }

    /// How far these runs differ from the rule; `None` without runs.
    pub fn residual<'a, 'b: 'a>(&self, runs: impl IntoIterator<Item = &'a Run<'b>>) -> Option<Residual> {
        let mut off: Vec<f64> = runs.into_iter().filter_map(|run| Some(off_by(run.rate, self.of(run)?))).collect();
        off.sort_by(f64::total_cmp);
        Some(Residual { median: *off.get((off.len().max(1) - 1) / 2)?, worst: *off.last()? })
    }

    /// The sum of the squared logarithmic residuals.
    fn left(&self, runs: &[Run<'_>]) -> f64 {
        runs.iter().filter_map(|run| Some(off_by(run.rate, self.of(run)?).ln().powi(2))).sum()
    }
}

/// The factor between two rates, at least 1.
fn off_by(one: f64, other: f64) -> f64 {
    (one / other).max(other / one)
}

/// Fits the rule to the runs. The runs are sorted by Q / park, highest first: the first ones are bound by the CPU, the
/// others by their parks, and each of the two figures is the median over its runs. Of all ways to divide them, the one
/// with the smallest residual is taken. If one limit alone explains all runs, the other stays unknown. `None` with
/// fewer than three runs.
pub fn fit(runs: &[Run<'_>]) -> Option<ParkRule> {
    if runs.len() < 3 {
        return None;
    }
    let mut sorted = runs.to_vec();
    sorted.sort_by(|a, b| b.queue_per_park().total_cmp(&a.queue_per_park()));
    let divided = |cpu_bound: usize| {
        let (by_cpu, by_parks) = sorted.split_at(cpu_bound);
        ParkRule {
            cpu_rate: median(by_cpu.iter().map(|run| run.rate)),
            queue_share: median(by_parks.iter().map(|run| run.rate / run.queue_per_park())).filter(|a| a.is_normal()),
        }
    };
    let least_left =
        |rules: &mut dyn Iterator<Item = ParkRule>| rules.min_by(|a, b| a.left(runs).total_cmp(&b.left(runs)));
    let both = least_left(&mut (1..sorted.len()).map(divided))?;
    let explains_all = |rule: &ParkRule| sorted.iter().all(|run| rule.of(run).is_some());
    let one = least_left(&mut [divided(0), divided(sorted.len())].into_iter().filter(explains_all));
    let little = (1.0 + ONE_LIMIT_WITHIN).ln().powi(2) * sorted.len() as f64;
    Some(one.filter(|one| one.left(runs) <= both.left(runs) * ONE_LIMIT_LEAVES + little).unwrap_or(both))
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len().checked_sub(1)? / 2;
    Some(if values.len().is_multiple_of(2) { (values[middle] * values[middle + 1]).sqrt() } else { values[middle] })
}

/// The rule from two runs alone, and how well it predicts the others: the CPU rate of the run with the highest Q /
/// park, the effective Q of the run with the lowest. Runs at the knee are left out. `None` if these two don't show both
/// limits.
pub fn held_out<'a>(runs: &[Run<'a>]) -> Option<(ParkRule, [Run<'a>; 2], Residual)> {
    let fitted = fit(runs)?;
    fitted.cpu_rate.zip(fitted.queue_share)?;
    let by_limit = |a: &&Run<'_>, b: &&Run<'_>| a.queue_per_park().total_cmp(&b.queue_per_park());
    let (most, least) = (runs.iter().max_by(by_limit)?, runs.iter().min_by(by_limit)?);
    let rule = ParkRule::of_two(most, least);
    let is_other = |run: &&Run<'_>| {
        run.series.key != most.series.key && run.series.key != least.series.key && !rule.is_at_knee(run)
    };
    let shows_both = rule.is_bound_by_parks(least) && !rule.is_bound_by_parks(most);
    let residual = rule.residual(runs.iter().filter(is_other))?;
    shows_both.then_some((rule, [*most, *least], residual))
}

/// Predicts other parks of the same queue, as where only the timer of a machine changes. The effective Q comes from the
/// queue's longest parks, the CPU rate from the run with the most Q / park. Returns each queue with the largest factor by
/// which its other runs are off; empty where [`held_out`] gives nothing.
pub fn held_out_by_queue(runs: &[Run<'_>]) -> Vec<(u64, f64)> {
    let Some((_, [most, _], _)) = held_out(runs) else { return Vec::new() };
    let mut queues: Vec<u64> = runs.iter().map(|run| run.queue).collect();
    queues.sort_unstable();
    queues.dedup();
    let of_queue = |queue: u64| {
        let of_it = || runs.iter().filter(move |run| run.queue == queue);
        let longest = of_it().max_by_key(|run| run.park)?;
        let rule = ParkRule::of_two(&most, longest);
        let is_other = |run: &&Run<'_>| ![&most.series.key, &longest.series.key].contains(&&run.series.key);
        let others = of_it().filter(is_other).filter(|run| !rule.is_at_knee(run));
        Some((queue, rule.residual(others)?.worst))
    };
    queues.into_iter().filter_map(of_queue).collect()
}

#[cfg(test)]
mod tests;
