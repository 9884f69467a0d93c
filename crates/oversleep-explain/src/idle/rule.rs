//! The rule of throughput: T ≈ min(CPU rate, Q / park), with an effective Q.

use oversleep_record::queue_labels;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

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
    /// Items per second.
    pub rate: f64,
}

impl Run<'_> {
    /// Q / park, in items per second; infinite if nothing parked.
    fn queue_per_park(&self) -> f64 {
        per_park(self.queue, self.park)
    }
}

fn per_park(queue: u64, park: Option<Nanos>) -> f64 {
    match park.filter(|&park| park > Nanos::ZERO) {
        Some(park) => queue as f64 / park.as_secs_f64(),
        None => f64::INFINITY,
    }
}

/// Every run of E2 that has a rate.
pub fn runs<'a>(file: &'a ResultFile) -> Vec<Run<'a>> {
    let run = |series: &'a Series| {
        // The mean, so that each round counts alike: where it is random whether a queue passes in one park or in two, a
        // median jumps.
        let rate = series.distribution.mean().filter(|&rate| rate > 0.0)?;
        let (queue, grid) = (series.label(queue_labels::QUEUE)?, series.label(queue_labels::GRID));
        Some(Run { series, queue, grid, park: mean_park(series), rate })
    };
    file.experiment(ExperimentId::E2).filter_map(run).collect()
}

/// The rule with its two figures. If the runs don't show one of the two limits, its figure is unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParkRule {
    /// Items per second when parks don't matter.
    pub cpu_rate: Option<f64>,
    /// The effective Q as a share of the queue's size.
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

/// One limit alone explains all runs if its squared residuals are at most this many times those of both limits, or this
/// small.
const ONE_LIMIT_LEAVES: f64 = 3.0;
const ONE_LIMIT_WITHIN: f64 = 0.05;

impl ParkRule {
    /// From two runs alone: one that is bound by the CPU, one that is bound by its parks.
    pub fn of_two(cpu_bound: &Run<'_>, park_bound: &Run<'_>) -> ParkRule {
        ParkRule {
            cpu_rate: Some(cpu_bound.rate),
            queue_share: Some(park_bound.rate / park_bound.queue_per_park()).filter(|share| share.is_normal()),
        }
    }

    /// The predicted rate for a queue of that size and parks of that length.
    pub fn predict(&self, queue: u64, park: Option<Nanos>) -> f64 {
        let by_parks = self.queue_share.map_or(f64::INFINITY, |share| share * per_park(queue, park));
        self.cpu_rate.unwrap_or(f64::INFINITY).min(by_parks)
    }

    /// The predicted rate of a run; `None` if the limit of that run is unknown.
    pub fn of(&self, run: &Run<'_>) -> Option<f64> {
        Some(self.predict(run.queue, run.park)).filter(|rate| rate.is_finite())
    }

    /// Whether parks bound that run, by the rule.
    pub fn is_bound_by_parks(&self, run: &Run<'_>) -> bool {
        self.queue_share.is_some_and(|share| share * run.queue_per_park() < self.cpu_rate.unwrap_or(f64::INFINITY))
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
/// park, the effective Q of the run with the lowest. `None` if these two don't show both limits.
pub fn held_out<'a>(runs: &[Run<'a>]) -> Option<(ParkRule, [Run<'a>; 2], Residual)> {
    let fitted = fit(runs)?;
    fitted.cpu_rate.zip(fitted.queue_share)?;
    let by_limit = |a: &&Run<'_>, b: &&Run<'_>| a.queue_per_park().total_cmp(&b.queue_per_park());
    let (most, least) = (runs.iter().max_by(by_limit)?, runs.iter().min_by(by_limit)?);
    let rule = ParkRule::of_two(most, least);
    let is_other = |run: &&Run<'_>| run.series.key != most.series.key && run.series.key != least.series.key;
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
        let others = of_it().filter(|run| ![&most.series.key, &longest.series.key].contains(&&run.series.key));
        Some((queue, rule.residual(others)?.worst))
    };
    queues.into_iter().filter_map(of_queue).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sheet;

    /// Runs of 4 M/s at most, with an effective Q of this share.
    fn sheet(share: f64, grids: &[(&str, i64)], queues: &[u64], noise: &[f64]) -> Sheet {
        let mut sheet = Sheet::linux();
        let mut noise = noise.iter().cycle();
        for (grid, park) in grids {
            for queue in queues {
                let by_parks = share * *queue as f64 / (*park as f64 / 1e9);
                let rate = by_parks.min(4e6) * noise.next().copied().unwrap_or(1.0);
                sheet = sheet.steady(format!("E2/jet{grid}/queue={queue}"), rate as i64).idling(1.5, 1_000, *park);
            }
        }
        sheet
    }

    const GRIDS: [(&str, i64); 3] = [("", 60_000), ("/grid=1ms", 1_060_000), ("/grid=15.625ms", 15_690_000)];

    #[test]
    fn both_figures_are_found_again() {
        let sheet = sheet(0.7, &GRIDS, &[64, 256, 1_024, 4_096], &[1.0]);
        let runs = runs(&sheet.file);
        assert_eq!(runs.len(), 12);
        let rule = fit(&runs).expect("it fits");
        let (rate, share) = (rule.cpu_rate.unwrap(), rule.queue_share.unwrap());
        assert!((rate / 4e6 - 1.0).abs() < 0.001 && (share / 0.7 - 1.0).abs() < 0.001, "{rule:?}");
        assert!(rule.residual(&runs).unwrap().worst < 1.001);
        assert!((rule.predict(1_024, Some(Nanos(1_060_000))) - 676_000.0).abs() < 1_000.0);
        let (held, _, left) = held_out(&runs).expect("both limits are seen");
        assert!((held.queue_share.unwrap() - 0.7).abs() < 0.001 && left.worst < 1.001, "{held:?} {left:?}");
    }

    #[test]
    fn a_queue_may_have_an_effective_q_of_its_own() {
        // A short queue passes more of itself in a park than a long one does.
        let mut sheet = Sheet::linux();
        for (grid, park) in GRIDS {
            for (queue, share) in [(64, 0.9), (1_024, 0.5), (16_384, 0.5)] {
                let by_parks = share * f64::from(queue) / (park as f64 / 1e9);
                let key = format!("E2/jet{grid}/queue={queue}");
                sheet = sheet.steady(key, by_parks.min(4e6) as i64).idling(1.5, 1_000, park);
            }
        }
        let runs = runs(&sheet.file);
        let (_, _, left) = held_out(&runs).expect("both limits are seen");
        assert!(left.worst > 1.7, "{left:?}");
        let by_queue = held_out_by_queue(&runs);
        assert_eq!(by_queue.iter().map(|(queue, _)| *queue).collect::<Vec<_>>(), [64, 1_024, 16_384]);
        assert!(by_queue.iter().all(|(_, worst)| *worst < 1.001), "{by_queue:?}");
    }

    #[test]
    fn noise_is_left_over_and_moves_the_figures_little() {
        let sheet = sheet(1.0, &GRIDS, &[64, 256, 1_024, 4_096], &[0.9, 1.1, 1.05, 0.8, 1.2]);
        let rule = fit(&runs(&sheet.file)).expect("it fits");
        assert!((rule.cpu_rate.unwrap() / 4e6 - 1.0).abs() < 0.15, "{rule:?}");
        assert!((rule.queue_share.unwrap() - 1.0).abs() < 0.15, "{rule:?}");
        let left = rule.residual(&runs(&sheet.file)).unwrap();
        assert!(left.median > 1.01 && left.worst < 1.35, "{left:?}");
    }

    #[test]
    fn chance_alone_shows_no_second_limit() {
        // As on a modelled Windows: a queue passes in one tick or in two.
        let sheet = sheet(0.67, &GRIDS[2..], &[64, 256, 1_024, 4_096], &[1.2, 0.75, 1.0, 0.87, 1.2, 1.0, 0.9, 1.15]);
        let rule = fit(&runs(&sheet.file)).expect("it fits");
        assert_eq!(rule.cpu_rate, None, "{rule:?}");
    }

    #[test]
    fn a_limit_that_no_run_shows_is_unknown() {
        let parked = sheet(0.5, &GRIDS[2..], &[64, 256, 1_024], &[1.0]);
        let rule = fit(&runs(&parked.file)).expect("it fits");
        assert_eq!((rule.cpu_rate, rule.queue_share.map(|share| (share * 100.0).round())), (None, Some(50.0)));
        assert!(held_out(&runs(&parked.file)).is_none());
        let mut spinning = Sheet::linux();
        for queue in [64, 256, 1_024] {
            spinning = spinning.steady(format!("E2/custom/queue={queue}"), 4_000_000).idling(2.0, 0, 0);
        }
        let rule = fit(&runs(&spinning.file)).expect("it fits");
        assert_eq!(rule, ParkRule { cpu_rate: Some(4e6), queue_share: None });
        assert_eq!(rule.predict(1, Some(Nanos(1))), 4e6);
        assert_eq!(fit(&runs(&spinning.file)[..2]), None);
    }
}
