//! How late a runtime's call is on a modelled machine. Each is measured as a question about it is, on the machine from its
//! start: beside others it would meet other phases of clocks, grids and ticks.

use oversleep_measure::{Bench, Limit, Measured, Plan, Probe, SeriesRecorder};
use oversleep_record::series::{Pace, Quantity, Runtime, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Nanos, Unavailable, label};
use oversleep_system::SharedPlatform;
use oversleep_system::runtime_calls::{Evidence, Record};

use crate::ask::{NoAnswer, Question, Subject, series_of_wait};
use crate::session::Laboratory;

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
    question: Question,
    wait: String,
    requested: Nanos,
    recorder: SeriesRecorder,
}

impl Lateness {
    pub(super) fn of(platform: &SharedPlatform, record: &Record, requested: Nanos, plan: &Plan) -> Lateness {
        let wait = record.wait_name();
        let usual = Question::of(Subject::Wait { name: wait.clone(), request: requested });
        let count = match plan.limit {
            Some(Limit::Count(count)) => count,
            _ => usual.count,
        };
        let question = Question { count, conditions: plan.conditions.clone(), clock: plan.clock.clone(), ..usual };
        let mut series = series_of(record, ExperimentId::R1, Quantity::Lateness, requested);
        series.pace = Some(question.pace.unwrap_or(Pace::BackToBack));
        series.conditions = plan.conditions.clone();
        let recorder = SeriesRecorder::new(series, count);
        Lateness { platform: platform.clone(), question, wait, requested, recorder }
    }

    /// What the question gives on the machine from its start.
    fn measured(&self) -> Result<Series, Unavailable> {
        let machine = self.platform.from_its_start().ok_or(Unavailable::NotOnThisPlatform)?;
        series_of_wait(&Laboratory::on(machine), &self.question, &self.wait, self.requested).map_err(
            |error| match error {
                NoAnswer::Unavailable { reason, .. } => reason,
                NoAnswer::Unknown { .. } => Unavailable::NotOnThisPlatform,
            },
        )
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

    /// Its own thread needs none: the question has them.
    fn conditions(&self) -> &Conditions {
        &self.question.conditions
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
