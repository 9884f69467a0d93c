//! The result file: what a run leaves behind. Reports, findings and comparisons start from it alone.

mod v1;

use std::collections::BTreeSet;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::clock::ClockResult;
use crate::environment::{Environment, PlatformId};
use crate::experiment::ExperimentId;
use crate::finding::Finding;
use crate::series::Series;
use crate::trial::Trial;
use crate::units::Nanos;

/// The schema this crate writes.
pub const SCHEMA: &str = "oversleep-result/2";
/// Largest file read, in bytes; the largest `check --thorough` is a tenth of it.
pub const FILE_BYTES_MAX: usize = 512 << 20;
/// Most series read; a whole `check` has about 250. Each histogram takes 270 KB of memory however few bytes it has in the
/// file, so that without a limit a file of some MB could ask for more memory than there is.
pub const SERIES_MAX: usize = 4_096;

/// Who wrote the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// `oversleep`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What measuring costs: the floor under every figure. It is printed and never subtracted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Floor {
    /// Registry name of the clock that timestamps are read from.
    pub clock: String,
    /// Cost of one timestamp.
    pub read_cost_ps: i64,
    /// Smallest difference between two timestamps.
    pub step_ns: Nanos,
    /// Why that clock was chosen; `None` in results that don't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// Another clock, compared with it; `None` where there was none, as on modelled machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_check: Option<CrossCheck>,
}

/// Why timestamps are read from a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Chosen {
    /// The deadlines of the system's waits are on it: no other clock can tell early from late to the nanosecond.
    DeadlineClock,
    /// The user chose it with `--clock`.
    ByUser,
}

/// How closely another clock agreed with the clock of the timestamps during the run. The library's clock is steered to
/// it, so this shows how good the library's clock was, and whether a counter stood still or ran wild meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CrossCheck {
    /// Its registry name.
    pub clock: String,
    /// How much further than the clock of the timestamps it went, from the beginning of the run to the end.
    pub difference_ns: Nanos,
    /// What the readings around it and the step of the clock of the timestamps leave open.
    pub uncertainty_ns: Nanos,
    /// From the first comparison to the last, by the clock of the timestamps.
    pub window_ns: Nanos,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// All that was planned was measured.
    Complete,
    /// It was interrupted. Everything measured until then is here.
    Interrupted,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultFile {
    /// `oversleep-result/2`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Who wrote it.
    pub tool: Tool,
    /// When the run began, in seconds since 1970-01-01 UTC; `None` for modelled machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_unix_s: Option<i64>,
    /// How long the run took.
    pub duration_ns: Nanos,
    /// How it ended.
    pub completion: Completion,
    /// The command that ran: `check`, `clocks`, `waits` …
    pub command: String,
    /// A name the user gave this result with `--name`; nothing is filled in unasked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where.
    pub platform: PlatformId,
    /// The machine.
    pub environment: Environment,
    /// The floor under every figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
    /// Clocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<ClockResult>,
    /// Everything measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// Remedies tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<Trial>,
    /// Findings by the version that wrote the file; a reader works them out again from the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Why a result file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is not JSON of the right shape.
    #[error("not a result file: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Another schema.
    #[error("written in schema '{found}'; this version reads '{SCHEMA}' and '{}'", v1::SCHEMA)]
    OtherSchema {
        /// What it says.
        found: String,
    },
    /// Something in it contradicts itself.
    #[error("damaged result file: {0}")]
    Inconsistent(String),
    /// Too large to be one of ours.
    #[error("{0} bytes is larger than any result file")]
    TooLarge(usize),
    /// It has more series than any run measures.
    #[error("{0} series are more than any result file has; at most {SERIES_MAX} are read")]
    TooManySeries(usize),
}

#[derive(Deserialize)]
struct SchemaOnly {
    schema: String,
}

#[derive(Deserialize)]
struct SeriesOnly {
    /// Takes no memory, however many there are.
    #[serde(default)]
    series: Vec<IgnoredAny>,
}

impl ResultFile {
    /// Reads and checks a file's bytes.
    ///
    /// # Errors
    /// What is wrong with it: not JSON, another schema, or contents that contradict themselves.
    pub fn read(bytes: &[u8]) -> Result<ResultFile, FileError> {
        if bytes.len() > FILE_BYTES_MAX {
            return Err(FileError::TooLarge(bytes.len()));
        }
        // The schema first: a file of another version should say so instead of naming a missing field.
        let SchemaOnly { schema } = serde_json::from_slice(bytes)?;
        let is_v1 = schema == v1::SCHEMA;
        if schema != SCHEMA && !is_v1 {
            return Err(FileError::OtherSchema { found: schema });
        }
        if is_v1 && bytes.len() > v1::FILE_BYTES_MAX {
            return Err(FileError::TooLarge(bytes.len()));
        }
        let SeriesOnly { series } = serde_json::from_slice(bytes)?;
        if series.len() > SERIES_MAX {
            return Err(FileError::TooManySeries(series.len()));
        }
        let file: ResultFile = match is_v1 {
            true => serde_json::from_value(v1::converted(serde_json::from_slice(bytes)?))?,
            false => serde_json::from_slice(bytes)?,
        };
        match file.fault() {
            Some(fault) => Err(FileError::Inconsistent(fault)),
            None => Ok(file),
        }
    }

    /// The file's bytes: one JSON document on one line, ending in a newline.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("plain data always serializes");
        bytes.push(b'\n');
        bytes
    }

    /// The series of that key.
    pub fn series(&self, key: impl AsRef<str>) -> Option<&Series> {
        self.series.iter().find(|series| series.key == *key.as_ref())
    }

    /// The series of one experiment.
    pub fn experiment(&self, id: ExperimentId) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(move |series| series.experiment == id)
    }

    /// The clock of that name.
    pub fn clock(&self, name: &str) -> Option<&ClockResult> {
        self.clocks.iter().find(|clock| clock.name == name)
    }

    fn fault(&self) -> Option<String> {
        let mut keys = BTreeSet::new();
        for series in &self.series {
            if !keys.insert(series.key.as_str()) {
                return Some(format!("two series have the key '{}'", series.key));
            }
            if let Some(fault) = series.samples.fault() {
                return Some(format!("series '{}': {fault}", series.key));
            }
            if series.counts.recorded != series.distribution.count() {
                return Some(format!(
                    "series '{}': {} recorded, but its histogram holds {}",
                    series.key,
                    series.counts.recorded,
                    series.distribution.count()
                ));
            }
        }
        let referenced = self.trials.iter().flat_map(|trial| &trial.pairs).flat_map(|pair| [&pair.before, &pair.after]);
        for key in referenced {
            if !keys.contains(key.as_str()) {
                return Some(format!("a trial names the series '{key}', which is not here"));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_series_than_memory_holds_are_refused_unread() {
        let file = |count: usize| {
            let series = vec!["{}"; count].join(",");
            ResultFile::read(format!(r#"{{"schema":"{SCHEMA}","series":[{series}]}}"#).as_bytes()).unwrap_err()
        };
        assert!(matches!(file(SERIES_MAX + 1), FileError::TooManySeries(_)));
        assert!(matches!(file(SERIES_MAX), FileError::Malformed(_)), "these are read, and found to be empty");
    }
}
