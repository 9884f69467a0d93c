//! How late a runtime's call is on a modelled machine. Each is measured as a question about it is, on the machine from its
//! start: beside others it would meet other phases of clocks, grids and ticks.

use oversleep_measure::{Bench, Limit, Measured, Plan, Probe, SeriesRecorder};
use oversleep_record::series::{Pace, Quantity, Runtime, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Nanos, Unavailable, label};
use oversleep_system::SharedPlatform;
use oversleep_system::runtime_calls::{Evidence, Record, is_at_fixed_rate};

/// How many values an answer has by default: enough for p99.
pub const COUNT: u64 = 1_000;

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
        let pace = if is_at_fixed_rate(&wait) { Pace::Periodic } else { Pace::BackToBack };
        let count = match plan.limit {
            Some(Limit::Count(count)) => count,
            _ => COUNT,
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
                Series { experiment, key, subject, runtime, rounded_ns, labels, split: None, ..alone }
            }
            _ => own,
        });
    }
}
