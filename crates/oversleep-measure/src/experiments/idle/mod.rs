//! E1 and E2: a queue between threads, by how they wait for items.
//!
//! `strategy` decides on the idle turns, `worker` carries them out, `ring` is the queue, `line` is one run of a
//! pipeline; `strategies` and `park_rule` are the experiments.

mod line;
mod marks;
mod park_rule;
mod ring;
mod shared;
mod source;
mod strategies;
mod strategy;
mod worker;

use std::sync::{Arc, OnceLock};

use oversleep_record::queue_labels;
use oversleep_record::series::Series;
use oversleep_record::{Conditions, Labels, Nanos, Unavailable};
use oversleep_system::Platform;

use super::fork_join::calibrated_work;
use crate::bench::Bench;
use crate::plan::{Depth, IdlePlan, Limit, Plan};
use crate::probe::Probe;
use crate::recorder::SeriesRecorder;
use shared::{Line, Offered};
use strategy::{Backoff, Kind, TYPICAL};

pub(super) use park_rule::E2;
pub(super) use strategies::E1;
pub use strategy::{CUSTOM, STRATEGIES, Strategy};

/// The queue of a streaming engine: Jet's edges hold as many.
pub const QUEUE: u64 = 1_024;
/// A worker's computation per item: a full queue of [`QUEUE`] keeps it busy for 0.25 ms, which lies between a park of
/// Linux and one of Windows.
pub const ITEM: Nanos = Nanos(244);

/// A strategy to measure: its name, and what it does.
type Chosen = (String, Kind);

/// The user's own strategy, if any of its figures is given. The other figures are those of `typical`; the longest
/// request of a park is at least the first.
fn own_backoff(plan: &IdlePlan) -> Option<Backoff> {
    let &IdlePlan { spins, yields, park_from, park_to, .. } = plan;
    let is_given = spins.or(yields).is_some() || park_from.or(park_to).is_some();
    let park_to = park_to.unwrap_or(TYPICAL.park_to.max(park_from.unwrap_or_default()));
    is_given.then(|| Backoff {
        spins: spins.unwrap_or(TYPICAL.spins),
        yields: yields.unwrap_or(TYPICAL.yields),
        park_from: park_from.unwrap_or(TYPICAL.park_from.min(park_to)),
        park_to,
    })
}

/// The strategies that the user named, and the user's own; all of them if there is neither.
fn chosen(plan: &Plan) -> Vec<Chosen> {
    let own = own_backoff(&plan.idle);
    let is_wanted =
        |strategy: &&Strategy| if plan.subjects.is_empty() { own.is_none() } else { plan.wants(strategy.name) };
    let named = STRATEGIES.iter().filter(is_wanted).map(|strategy| (strategy.name.to_owned(), strategy.kind));
    named.chain(own.map(|own| (CUSTOM.to_owned(), Kind::Fixed(own)))).collect()
}

/// The measurement of a probe in each round.
struct LineProbe {
    line: Line,
    item: Nanos,
    offered: Offered,
    window: Nanos,
    rounds: u32,
    rounds_run: u32,
    recorder: SeriesRecorder,
    work_units: Arc<OnceLock<u64>>,
    conditions: Conditions,
}

/// The labels of a pipeline's series.
fn labels(line: &Line, item: Nanos) -> Labels {
    let labels = Labels::new()
        .with(queue_labels::QUEUE, line.queue as u64)
        .with(queue_labels::WORKERS, line.workers as u64)
        .with(queue_labels::ITEM, item);
    let (Kind::Fixed(backoff) | Kind::Learned(backoff)) = line.kind else { return labels };
    let Backoff { spins, yields, park_from, park_to } = backoff;
    let (goes_on, parks) = (spins < u64::MAX, spins < u64::MAX && yields < u64::MAX);
    let labels = if goes_on { labels.with(queue_labels::SPINS, spins) } else { labels };
    if !parks {
        return labels;
    }
    let parked = labels.with(queue_labels::YIELDS, yields).with(queue_labels::PARK, line.park.clone());
    let parked = parked.with(queue_labels::PARK_FROM, park_from).with(queue_labels::PARK_TO, park_to);
    line.grid.map_or(parked.clone(), |grid| parked.with(queue_labels::GRID, grid))
}

/// The pipeline that a plan describes.
fn line(platform: &dyn Platform, plan: &Plan, kind: Kind) -> Line {
    let park = plan.idle.park.as_deref().or_else(|| worker::default_park(platform)).unwrap_or_default();
    Line {
        kind,
        park: park.to_owned(),
        grid: None,
        queue: usize::try_from(plan.idle.queue.unwrap_or(QUEUE)).unwrap_or(usize::MAX),
        workers: usize::try_from(plan.idle.workers.unwrap_or(1)).unwrap_or(1).max(1),
        milli_units: 0,
    }
}

/// The longest round: latencies are kept until it ends.
const WINDOW_MAX: Nanos = Nanos::from_secs(2);

/// The duration of each round, and the number of rounds. Modelling a second of spinning takes as long as a real one,
/// and modelled rounds differ only by chance, so a thorough run on a model measures as long as a normal run.
fn window(platform: &dyn Platform, plan: &Plan, of_depth_ms: [i64; 3], rounds: [u32; 3]) -> (Nanos, u32) {
    const ROUNDS: u32 = 3;
    let depth = if platform.time_is_virtual() { plan.depth.min(Depth::Normal) } else { plan.depth };
    let [quick, normal, thorough] = of_depth_ms.map(Nanos::from_millis);
    match plan.limit {
        Some(Limit::Time(time)) => {
            let rounds = ROUNDS.max(u32::try_from(time.0 / WINDOW_MAX.0).unwrap_or(u32::MAX));
            (Nanos(time.0 / i64::from(rounds)).max(Nanos(1)), rounds)
        }
        Some(Limit::Count(rounds)) => (normal, u32::try_from(rounds).unwrap_or(u32::MAX)),
        None => (depth.pick(quick, normal, thorough), depth.pick(rounds[0], rounds[1], rounds[2])),
    }
}

impl LineProbe {
    fn boxed(
        platform: &dyn Platform,
        plan: &Plan,
        line: Line,
        offered: Offered,
        (window, rounds): (Nanos, u32),
        mut series: Series,
    ) -> Box<dyn Probe> {
        let item = plan.idle.item.unwrap_or(ITEM);
        series.clock = platform.reference_clock().to_owned();
        series.conditions = plan.conditions.clone();
        series.labels = labels(&line, item);
        let expected = match offered {
            Offered::FlatOut => u64::from(rounds),
            Offered::PerSecond(rate) => {
                series.labels.set(queue_labels::RATE, rate);
                let each = (window.as_secs_f64() * rate as f64) as u64;
                each.saturating_mul(u64::from(rounds))
            }
        };
        Box::new(LineProbe {
            line,
            item,
            offered,
            window,
            rounds,
            rounds_run: 0,
            recorder: SeriesRecorder::new(series, expected),
            work_units: Arc::clone(&plan.work_units),
            conditions: plan.conditions.clone(),
        })
    }

    fn run(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        if self.line.park.is_empty() {
            return Err(Unavailable::NotOnThisPlatform);
        }
        let Some(units_per_ms) = calibrated_work(bench, &self.work_units) else { return Ok(()) };
        let milli_units = u128::from(units_per_ms) * u128::from(self.item.0.unsigned_abs()) / 1_000;
        self.line.milli_units = u64::try_from(milli_units).unwrap_or(u64::MAX);
        let begun = bench.platform().now();
        let outcome = line::run(bench, &self.line, self.offered, self.window)?;
        let recorder = &mut self.recorder;
        self.rounds_run += 1;
        match outcome.rate {
            _ if self.offered != Offered::FlatOut => {}
            Ok(rate) => recorder.record(bench.since_origin(begun), rate.round() as i64),
            // Another round may show it.
            Err(reason) if self.rounds_run >= self.rounds && recorder.series().counts.recorded == 0 => {
                return if bench.stopped() { Ok(()) } else { Err(reason) };
            }
            Err(_) => {}
        }
        for (due, latency) in outcome.latencies {
            if latency < Nanos::ZERO {
                recorder.count_backward();
            }
            recorder.record(bench.since_origin(due), latency.0);
        }
        for (due, so_far) in outcome.missed {
            recorder.record_missed(bench.since_origin(due), so_far.0);
        }
        if self.offered != Offered::FlatOut {
            recorder.add_expected(outcome.due);
        }
        match &mut recorder.series_mut().idling {
            Some(all) => all.add_round(&outcome.idling),
            none => *none = Some(outcome.idling),
        }
        Ok(())
    }
}

impl Probe for LineProbe {
    fn label(&self) -> String {
        let subject = &self.recorder.series().subject;
        match (self.offered, self.line.grid) {
            (Offered::PerSecond(rate), _) => format!("idle strategy {subject}, {rate} items/s"),
            (Offered::FlatOut, Some(grid)) => format!("idle strategy {subject}, parks on a grid of {grid}"),
            (Offered::FlatOut, None) => format!("idle strategy {subject}, flat out"),
        }
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn round_estimate(&self) -> Nanos {
        self.window + Nanos::from_millis(2)
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        self.run(bench)
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.recorder]
    }
}

#[cfg(test)]
mod tests;
