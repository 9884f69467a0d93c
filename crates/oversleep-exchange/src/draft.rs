//! A result in the making.

use oversleep_record::distribution::{Beyond, Distribution};
use oversleep_record::environment::{Environment, FactValue, PlatformId};
use oversleep_record::fact::FactName;
use oversleep_record::file::Imported;
use oversleep_record::series::{Counts, Quantity, Round, Unit};
use oversleep_record::{Disturbance, ExperimentId, Nanos, ResultFile, Series};

use crate::Fault;

/// The most values of a file: what a result may state.
const COUNT_MAX: u64 = 1 << 53;
/// Where the file doesn't say.
const UNKNOWN: &str = "unknown";

/// The experiment of values that no experiment of oversleep measures.
pub const EXPERIMENT: ExperimentId = ExperimentId::new("import");

/// What is known of a file so far.
pub struct Draft {
    pub imported: Imported,
    pub os: &'static str,
    pub arch: String,
    pub taken_unix_s: Option<i64>,
    pub duration_ns: i64,
    environment: Environment,
    pub series: Vec<Series>,
}

impl Draft {
    pub fn new(format: &'static str) -> Draft {
        // A format's name begins with its program's.
        let program = format.split(' ').next().unwrap_or_default().to_owned();
        Draft {
            imported: Imported { program, version: None, format: format.to_owned(), notes: Vec::new() },
            os: UNKNOWN,
            arch: UNKNOWN.to_owned(),
            taken_unix_s: None,
            duration_ns: 0,
            environment: Environment::default(),
            series: Vec::new(),
        }
    }

    /// Adds a sentence about the figures, once.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.imported.notes.contains(&note) {
            self.imported.notes.push(note);
        }
    }

    /// Adds a fact, with the place in the file that states it.
    pub fn fact(&mut self, name: FactName, value: FactValue, place: &str) {
        self.environment.set(name, value, place);
    }

    /// Adds a series. A second one of the same key is `again`.
    pub fn add(&mut self, mut series: Series, values: Values) {
        while self.series.iter().any(|known| known.key == series.key) {
            series.key = series.key.word("again");
        }
        series.distribution = values.distribution;
        series.set_beyond(values.beyond);
        let early = if series.quantity == Quantity::Lateness { series.distribution.early_count() } else { 0 };
        series.counts = Counts { recorded: series.distribution.count(), early, ..series.counts };
        self.series.push(series);
    }

    /// The result.
    pub fn finish(self) -> Result<ResultFile, Fault> {
        if self.series.iter().all(|series| series.distribution.is_empty() && series.beyond.is_none()) {
            return Err(Fault::Line(0, "there is no value in it".to_owned()));
        }
        Ok(ResultFile {
            taken_unix_s: self.taken_unix_s,
            duration_ns: Nanos(self.duration_ns),
            environment: self.environment,
            series: self.series,
            imported: Some(self.imported),
            ..ResultFile::empty("import", PlatformId::real(self.os, self.arch))
        })
    }
}

/// Values as they are read.
#[derive(Clone)]
pub struct Values {
    distribution: Distribution,
    beyond: Option<Beyond>,
}

impl Default for Values {
    fn default() -> Values {
        Values { distribution: Distribution::growing(), beyond: None }
    }
}

impl Values {
    /// Adds a value so many times.
    pub fn record(&mut self, line: usize, value: i64, count: u64) -> Result<(), Fault> {
        match self.distribution.count().checked_add(count) {
            Some(total) if total <= COUNT_MAX => {
                self.distribution.record_times(value, count);
                Ok(())
            }
            _ => Err(Fault::Line(line, "there are more values than can be counted".to_owned())),
        }
    }

    /// So many values above all others, of at least that size, of which the largest may be known. Then a single one is.
    pub fn beyond(&mut self, line: usize, count: u64, from: i64, max: Option<i64>) -> Result<(), Fault> {
        match (count, max) {
            (0, _) => Ok(()),
            (1, Some(max)) => self.record(line, max, 1),
            _ => {
                self.beyond = Some(Beyond { count, from, max });
                Ok(())
            }
        }
    }

    /// The round of these values.
    pub fn round(&self, start_ns: Nanos, window_ns: Nanos) -> Round {
        Round::of(start_ns, &self.distribution, Disturbance { window_ns, ..Disturbance::default() })
    }

    pub fn count(&self) -> u64 {
        self.distribution.count()
    }

    /// Adds all values of another.
    pub fn add(&mut self, other: &Values) {
        self.distribution.set_beyond(self.beyond);
        let mut both = other.distribution.clone();
        both.set_beyond(other.beyond);
        self.distribution.merge(&both);
        self.beyond = self.distribution.beyond();
    }
}

/// A series of lateness in ns.
pub fn lateness(experiment: ExperimentId, subject: &str, request: Option<Nanos>) -> Series {
    let mut series = Series::new(experiment, subject, Quantity::Lateness, Unit::Ns);
    series.requested_ns = request;
    if let Some(request) = request {
        series.key = series.key.span(request);
    }
    series
}

/// A series of timer resolutions as a system states them.
pub fn stated_resolution() -> Series {
    Series::new(EXPERIMENT, "resolution", Quantity::StatedResolution, Unit::Ns)
}
