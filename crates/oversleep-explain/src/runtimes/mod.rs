//! Language runtimes in a result: the waits of each, the rule each follows, the meaning of zero, and the clock that
//! measured them.

pub mod engines;
pub mod instrument;
pub mod rule;

use oversleep_record::label::{self, Ended};
use oversleep_record::series::{Pace, Quantity, Runtime, Status};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};
use oversleep_system::runtime_calls::{Record, behind, call, is_at_fixed_rate, takes_no_span};

use instrument::{Validity, fault_of_clock};
use rule::{Due, NoRule, Point, Ruling, Zero};

/// A wait of one runtime in a result.
#[derive(Clone, Debug)]
pub struct RuntimeWait<'a> {
    /// The runtime.
    pub runtime: &'a Runtime,
    /// The name that its programmers write.
    pub name: &'a str,
    /// The call of the system beneath it, by registry name.
    pub beneath: Option<String>,
    /// What is wrong with the clock that timed it; its durations then show nothing.
    pub clock_fault: Option<Validity>,
    /// Its record, if a model made the call: then the rule is known.
    record: Option<&'static Record>,
    series: Vec<&'a Series>,
}

/// Every wait of every runtime, in the order of the result.
pub fn waits(file: &ResultFile) -> Vec<RuntimeWait<'_>> {
    let mut all: Vec<RuntimeWait<'_>> = Vec::new();
    let is_modelled = file.platform.modelled.is_some();
    for series in file.series.iter().filter(|series| is_of_a_wait(series)) {
        let Some(runtime) = &series.runtime else { continue };
        let known = all.iter_mut().find(|wait| wait.runtime == runtime && wait.name == series.subject);
        match known {
            Some(wait) => wait.series.push(series),
            None => all.push(RuntimeWait {
                runtime,
                name: &series.subject,
                beneath: series.label(label::BENEATH),
                clock_fault: fault_of_clock(file, series),
                record: is_modelled
                    .then(|| behind(&file.platform.os, &runtime.name, &runtime.version, &series.subject))
                    .flatten(),
                series: vec![series],
            }),
        }
    }
    all
}

fn is_of_a_wait(series: &Series) -> bool {
    matches!(series.experiment, ExperimentId::R1 | ExperimentId::R2) && series.requested_ns.is_some()
}

/// The system's own waits beneath the runtimes, at one request.
pub fn native<'a>(file: &'a ResultFile, wait: &str, requested: Nanos) -> Option<&'a Series> {
    file.experiment(ExperimentId::R1)
        .find(|series| series.runtime.is_none() && series.subject == wait && series.requested_ns == Some(requested))
}

/// The suffix of waits that were measured beside a busy thread.
const BUSY: &str = "(busy)";

impl<'a> RuntimeWait<'a> {
    /// The name of the same wait in an idle program, if this is one beside a busy thread.
    pub fn idle_name(&self) -> Option<&'a str> {
        self.name.strip_suffix(BUSY)
    }

    /// Its record, if a model made the call.
    pub fn record(&self) -> Option<&'static Record> {
        self.record
    }

    /// Whether one program may make both waits: they are of one runtime, in a version that both are about.
    pub fn goes_with(&self, other: &RuntimeWait<'_>) -> bool {
        let overlap = || self.record.zip(other.record).is_some_and(|(one, two)| one.overlaps(two));
        self.runtime.name == other.runtime.name && (self.runtime == other.runtime || overlap())
    }

    /// Its lateness at a request.
    pub fn at(&self, requested: Nanos) -> Option<&'a Series> {
        self.series
            .iter()
            .copied()
            .find(|series| series.experiment == ExperimentId::R1 && series.requested_ns == Some(requested))
    }

    /// The requests at which its lateness was measured, or is not available.
    pub fn requests(&self) -> Vec<Nanos> {
        let late = self.series.iter().filter(|series| series.experiment == ExperimentId::R1);
        late.filter_map(|series| series.requested_ns).collect()
    }

    /// Whether a request never came back.
    pub fn never_returns(&self, requested: Nanos) -> bool {
        let of = |series: &&&Series| series.requested_ns == Some(requested);
        self.series.iter().filter(of).any(|series| series.label(label::ENDED) == Some(Ended::Never))
    }

    /// Its durations by request: those that show the rule, and those that follow from a lateness.
    pub fn points(&self) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        for series in self.series.iter().filter(|series| series.has_values()) {
            let Some(requested) = series.requested_ns else { continue };
            let shift = if series.quantity == Quantity::Lateness { requested.0 } else { 0 };
            let durations: Vec<i64> = series.samples.value.iter().map(|value| value + shift).collect();
            let due = match series.pace {
                Some(Pace::Periodic) => Due::ByDeadline,
                _ if is_at_fixed_rate(self.name) => Due::Unknown,
                _ => Due::ByRule,
            };
            points.push(Point::of(requested, &durations).due(due));
        }
        points.sort_by_key(|point| point.requested);
        points
    }

    /// The rule that it follows.
    ///
    /// # Errors
    /// Why no rule can be determined.
    pub fn ruling(&self) -> Result<Ruling, NoRule> {
        match self.clock_fault {
            Some(fault) => Err(NoRule::WrongClock { fault }),
            None if takes_no_span(self.name) => Err(NoRule::TakesNoSpan),
            None => match self.record {
                Some(record) => Ok(Ruling::known(record.rounds, &self.points())),
                None => Ruling::of(&self.points()),
            },
        }
    }

    /// What a request of zero does; `None` if that was not measured, or timed by a wrong clock.
    pub fn zero(&self) -> Option<Zero> {
        let zero = self.series.iter().find(|series| series.requested_ns == Some(Nanos::ZERO))?;
        match (&zero.status, zero.label(label::ENDED)) {
            (_, Some(Ended::Never)) => Some(Zero::Forever),
            (Status::Unavailable { .. }, _) => Some(Zero::Refused),
            _ if self.clock_fault.is_some() => None,
            _ => Some(Zero::Returns(Nanos(zero.distribution.p50()?))),
        }
    }

    /// Whether none of it could be measured.
    pub fn is_unavailable(&self) -> bool {
        self.series.iter().all(|series| !series.has_values())
    }

    /// What makes it end closer to its time where a model was asked, or why nothing does.
    pub fn advice(&self) -> Option<String> {
        self.series.iter().find_map(|series| series.label(label::ADVICE))
    }

    /// The same, if something does.
    pub fn helps(&self) -> Option<String> {
        self.advice().filter(|advice| !advice.starts_with("nothing: "))
    }

    /// Whether programs can make that wait: some functions belong to the runtime alone.
    pub fn is_public(&self) -> bool {
        call(self.name).is_none_or(|call| !call.internal)
    }

    /// Garbage collections while it was measured; `None` where the runtime doesn't count them.
    pub fn collections(&self) -> Option<u64> {
        self.series.iter().filter_map(|series| series.label(label::COLLECTIONS)).reduce(|a, b| a + b)
    }
}
