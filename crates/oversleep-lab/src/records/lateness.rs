//! How late a runtime's call is on a modelled machine. Each is measured as a question about it is, on the machine from its
//! start: beside others it would meet other phases of clocks, grids and ticks.

use oversleep_measure::{Bench, Limit, Measured, Plan, Probe, SeriesRecorder};
use oversleep_record::samples::Samples;
use oversleep_record::series::{Pace, Quantity, Runtime, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Nanos, Unavailable, label};
use oversleep_system::SharedPlatform;
use oversleep_system::runtime_calls::{self, Evidence, Record, pace};

/// Measures a wait alone on a machine: the machine, the wait's registry name, and the plan.
pub(crate) type Alone = fn(SharedPlatform, &str, Plan) -> Result<Series, Unavailable>;

/// The series of a record's call, without its values.
pub(super) fn series_of(record: &Record, experiment: ExperimentId, quantity: Quantity, requested: Nanos) -> Series {
    // A measured record has its own form of the call: `Thread.sleep(ms,ns)`.
    let (id, name) = match (record.evidence, record.id.split_once('/')) {
        (Evidence::Measured, Some((runtime, name))) => (runtime.to_owned(), name),
        _ => (record.id.clone(), record.names.first().map_or("", String::as_str)),
    };
    let mut series = Series::new(experiment, name, quantity, Unit::Ns);
    series.key = series.key.span(requested).word(&id);
    series.requested_ns = Some(requested);
    series.rounded_ns = Some(record.rounds.rounded(requested));
    series.pace = Some(Pace::BackToBack);
    series.runtime = Some(Runtime { name: record.family().to_owned(), version: record.versions.clone() });
    series.labels.set(label::BENEATH, record.wait.clone());
    series
}

/// The samples that are kept of a call: a run has hundreds of calls, the histogram of each has all values, and the machine
/// gives the same again.
const SAMPLES_MAX: usize = 100;

/// The first of these samples.
fn first(samples: &Samples, max: usize) -> Samples {
    let mut kept = Samples::with_capacity(max.min(samples.len()));
    let is_missed = |at: u64| samples.missed_runs.iter().any(|[first, length]| (first..first + length).contains(&at));
    for ((at, start_ns), value) in (0..).zip(samples.start_ns.iter()).zip(samples.value.iter()) {
        kept.push(max, start_ns, value, is_missed(at));
    }
    kept.beyond_cap += samples.beyond_cap;
    kept
}

/// One request of a runtime's call.
pub(super) struct Lateness {
    platform: SharedPlatform,
    alone: Alone,
    plan: Plan,
    wait: String,
    requested: Nanos,
    recorder: SeriesRecorder,
}

impl Lateness {
    pub(super) fn of(
        platform: &SharedPlatform,
        record: &Record,
        requested: Nanos,
        plan: &Plan,
        alone: Alone,
    ) -> Lateness {
        let wait = record.wait_name();
        let pace = pace(&wait);
        let count = match plan.limit {
            Some(Limit::Count(count)) => count,
            _ => runtime_calls::count(requested),
        };
        let mut series = series_of(record, ExperimentId::R1, Quantity::Lateness, requested);
        series.pace = Some(pace);
        series.conditions = plan.conditions.clone();
        let recorder = SeriesRecorder::new(series, count);
        let plan = Plan {
            requests: vec![requested],
            pace: Some(pace),
            limit: Some(Limit::Count(count)),
            conditions: plan.conditions.clone(),
            clock: plan.clock.clone(),
            ..Plan::default()
        };
        Lateness { platform: platform.clone(), alone, plan, wait, requested, recorder }
    }

    /// It alone, on the machine from its start.
    fn measured(&self) -> Result<Series, Unavailable> {
        let machine = self.platform.restarted().ok_or(Unavailable::NotOnThisPlatform)?;
        (self.alone)(machine, &self.wait, self.plan.clone())
    }
}

impl Probe for Lateness {
    fn label(&self) -> String {
        format!("{} {}", self.recorder.series().subject, self.requested)
    }

    fn rounds(&self) -> u32 {
        1
    }

    fn round_estimate(&self) -> Nanos {
        Nanos::ZERO
    }

    /// Its own thread needs none: the plan has them.
    fn conditions(&self) -> &Conditions {
        &self.plan.conditions
    }

    /// Nothing of it happens beside the others.
    fn round(&mut self, _bench: &Bench) -> Result<(), Unavailable> {
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.recorder]
    }

    fn finish(mut self: Box<Self>, partial: bool, measured: &mut Measured) {
        let alone = if partial { None } else { Some(self.measured()) };
        if let Some(Err(reason)) = &alone {
            self.recorder.unavailable(reason.clone());
        }
        let own = self.recorder.into_series(partial);
        measured.series.push(match alone {
            Some(Ok(alone)) => {
                let Series { experiment, key, subject, runtime, rounded_ns, labels, .. } = own;
                let samples = first(&alone.samples, SAMPLES_MAX);
                Series { experiment, key, subject, runtime, rounded_ns, labels, samples, split: None, ..alone }
            }
            _ => own,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_samples_are_kept_and_the_others_counted() {
        let mut all = Samples::with_capacity(4);
        (0..4).for_each(|at| all.push(4, at, 10 * at, at == 1 || at == 3));
        let kept = first(&all, 2);
        assert_eq!((kept.value.iter().collect::<Vec<_>>(), kept.beyond_cap), (vec![0, 10], 2));
        assert_eq!((kept.missed_runs.iter().collect::<Vec<_>>(), kept.fault()), (vec![[1, 1]], None));
        assert_eq!(first(&all, 9), all);
    }
}
