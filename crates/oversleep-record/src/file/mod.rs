//! The result file of a run. Reports, findings and comparisons start from it alone.

mod consistency;
mod empty;
mod guard;
mod imported;
mod letters;
mod memory;
mod reduced;
mod v1;
mod v2;
mod why_v1;

use std::io::{self, BufReader, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::clock::ClockResult;
use crate::depth::Depth;
use crate::environment::{Environment, PlatformId};
use crate::experiment::ExperimentId;
use crate::finding::Finding;
use crate::observed::Observation;
use crate::series::Series;
use crate::shared::Shared;
use crate::trial::Trial;
use crate::units::Nanos;

pub use imported::Imported;

/// How much of a file is read at a time.
const READ_BYTES: usize = 64 << 10;
/// A text up to this length is held while it is parsed; a check's is 0.7 MB. A browser holds every file anyway, and the page
/// is 40 kB shorter with one parser.
const HELD_BYTES: u64 = if cfg!(target_family = "wasm") { u64::MAX } else { 4 << 20 };
/// The schema this crate writes.
pub const SCHEMA: &str = "oversleep-result/3";
/// The schema of earlier results of `oversleep why`, which had a form of their own.
pub const WHY_SCHEMA: &str = why_v1::SCHEMA;
/// The schemas of results that have the form of today.
const SCHEMAS: &[&str] = &[SCHEMA, v2::SCHEMA, v1::SCHEMA];
/// How many bytes of a file are searched for its schema: results have it at the beginning, and tools may sort the fields.
const HEAD_BYTES: u64 = 1 << 20;
/// The largest file that is read, in bytes. The limit ends reading from a device that never ends.
pub const FILE_BYTES_MAX: u64 = 64 << 30;
/// The most memory that reading a file takes, in bytes; half of its length if that is more. This refuses files in which
/// a few bytes ask for a lot of memory, which no run writes.
pub const MEMORY_MAX: u64 = 96 << 20;
/// The most series of one run. A run that exceeds it is refused before it measures. Each series takes a few KB of memory,
/// besides its samples.
pub const SERIES_MAX: usize = 8_192;
/// The most rounds of one run, over all series.
pub const ROUNDS_MAX: u64 = 100_000;

/// The program that wrote the file.
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
    /// The smallest difference between two timestamps.
    pub step_ns: Nanos,
    /// Why that clock was chosen; `None` in results that don't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// Another clock, compared with it; `None` where there was none, as on modelled machines.
    #[serde(default, alias = "witness", skip_serializing_if = "Option::is_none")]
    pub cross_check: Option<CrossCheck>,
}

/// Why timestamps are read from a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Chosen {
    /// The deadlines of the system's waits are on it: no other clock can tell early from late to the nanosecond.
    #[serde(alias = "of_the_deadlines")]
    DeadlineClock,
    /// The user chose it with `--clock`.
    #[serde(alias = "asked_for")]
    ByUser,
}

/// How closely another clock agreed with the clock of the timestamps during the run. The library's clock is steered to
/// that clock, so this shows its quality, and whether a counter stopped or ran at a wrong rate meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CrossCheck {
    /// Its registry name.
    pub clock: String,
    /// How much further than the clock of the timestamps it advanced from the beginning of the run to the end.
    #[serde(alias = "moved_ns")]
    pub difference_ns: Nanos,
    /// The uncertainty that comes from the readings around it and from the step of the clock of the timestamps.
    #[serde(alias = "known_within_ns")]
    pub uncertainty_ns: Nanos,
    /// From the first comparison to the last, by the clock of the timestamps.
    #[serde(alias = "over_ns")]
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
    /// `oversleep-result/3`.
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
    /// How thoroughly; `None` in results that don't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<Depth>,
    /// In a result made by `oversleep share`: how far it can be relied on, and what was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Shared>,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "reduced::each")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Series>"))]
    pub series: Vec<Series>,
    /// What `oversleep resolution watch` saw change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Changes beyond those that are kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changes_beyond: u64,
    /// Remedies tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<Trial>,
    /// What was observed of programs, besides the series of their waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Observation>,
    /// The program whose file this result was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// Findings by the version that wrote the file; a reader works them out again from the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Why a result file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system can't read it.
    #[error("{0}")]
    Unreadable(#[source] io::Error),
    /// There is nothing in it.
    #[error("it is empty, not a result file")]
    Empty,
    /// It is not JSON of the right shape.
    #[error("not a result file: {0}")]
    Malformed(#[source] serde_json::Error),
    /// Another schema.
    #[error(
        "written in schema '{found}'; this version reads '{SCHEMA}', '{}', '{}' and '{WHY_SCHEMA}'",
        v2::SCHEMA,
        v1::SCHEMA
    )]
    OtherSchema {
        /// The schema that the file names.
        found: String,
    },
    /// Not UTF-8 text.
    #[error("it is {0}, and a result file is UTF-8 text; {advice}", advice = other_encoding(.0))]
    OtherEncoding(&'static str),
    /// Some of its bytes are not UTF-8.
    #[error("damaged result file: its text is not UTF-8 at line {line} column {column}")]
    NotUtf8 {
        /// The position of the first of them.
        line: usize,
        /// From 1, in bytes.
        column: usize,
    },
    /// A key that occurs twice in one object, so its value is ambiguous.
    #[error("damaged result file: the key '{key}' is there twice in one object, at line {line} column {column}")]
    RepeatedKey {
        /// The key.
        key: String,
        /// Where the second one ends.
        line: usize,
        /// From 1, in bytes.
        column: usize,
    },
    /// The file contradicts itself.
    #[error("damaged result file: {0}")]
    Inconsistent(String),
    /// Too large for a file of oversleep.
    #[error("it is larger than any result file")]
    TooLarge,
    /// Reading it would take much more memory than its length.
    #[error("damaged result file: it would take more than {} MB of memory, which no result of its length does", MEMORY_MAX >> 20)]
    TooMuchMemory,
}

/// The advice for text that is not UTF-8.
fn other_encoding(encoding: &str) -> &'static str {
    match encoding {
        "gzip" => "unpack it with `gzip -d`",
        "xz" => "unpack it with `xz -d`",
        "zstd" => "unpack it with `zstd -d`",
        "bzip2" => "unpack it with `bzip2 -d`",
        "ZIP" => "unpack it with `unzip`",
        _ => "let oversleep write the file with --json=FILE, because `>` in PowerShell writes UTF-16",
    }
}

impl From<serde_json::Error> for FileError {
    fn from(error: serde_json::Error) -> FileError {
        if !error.is_io() {
            return FileError::Malformed(error);
        }
        FileError::of_source(io::Error::from(error))
    }
}

impl FileError {
    fn of_source(error: io::Error) -> FileError {
        match error.get_ref().and_then(|fault| fault.downcast_ref::<guard::Fault>()).cloned() {
            None => FileError::Unreadable(error),
            Some(guard::Fault::RepeatedKey { key, line, column }) => FileError::RepeatedKey { key, line, column },
            Some(guard::Fault::OtherSchema { found }) => FileError::OtherSchema { found },
            Some(guard::Fault::OtherEncoding(encoding)) => FileError::OtherEncoding(encoding),
            Some(guard::Fault::NotUtf8 { line, column }) => FileError::NotUtf8 { line, column },
            Some(guard::Fault::TooLarge) => FileError::TooLarge,
            Some(guard::Fault::TooMuchMemory) => FileError::TooMuchMemory,
        }
    }
}

/// Reads a document of one of these schemas strictly: UTF-8, no key twice, bounded memory.
fn document<T: DeserializeOwned>(source: &mut dyn Read, schemas: &'static [&'static str]) -> Result<T, FileError> {
    let mut guard = guard::Guard::new(source, schemas);
    let mut text = Vec::new();
    // A text in memory is parsed in half of the time.
    let read = match (&mut guard).take(HELD_BYTES).read_to_end(&mut text) {
        Ok(length) if (length as u64) < HELD_BYTES => serde_json::from_slice(&text).map_err(FileError::from),
        Ok(_) => serde_json::from_reader(text.as_slice().chain(BufReader::with_capacity(READ_BYTES, &mut guard)))
            .map_err(FileError::from),
        // The text before the fault may have one of its own that only the parser notices.
        Err(error) => match serde_json::from_slice::<T>(&text) {
            Err(malformed) if !malformed.is_eof() => Err(FileError::from(malformed)),
            _ => Err(FileError::of_source(error)),
        },
    };
    match read {
        Err(FileError::Malformed(_)) if guard.given == 0 => Err(FileError::Empty),
        read => read,
    }
}

impl ResultFile {
    /// Reads and checks a file's bytes.
    ///
    /// # Errors
    /// Those of [`ResultFile::read_from`].
    pub fn read(bytes: &[u8]) -> Result<ResultFile, FileError> {
        ResultFile::read_from(bytes)
    }

    /// Reads and checks a file. It holds the text of a short one, and never all of a long one's.
    ///
    /// # Errors
    /// The fault: it can't be read, is not JSON, has another schema, or its contents contradict each other.
    pub fn read_from(mut source: impl Read) -> Result<ResultFile, FileError> {
        ResultFile::read_all_of(&mut source)
    }

    /// Like [`ResultFile::read_from`]; `reduce` removes from each series what the caller doesn't need, as soon as it is
    /// read.
    ///
    /// # Errors
    /// Those of [`ResultFile::read_from`].
    pub fn read_reduced(source: impl Read, reduce: fn(&mut Series)) -> Result<ResultFile, FileError> {
        reduced::reading(reduce, || ResultFile::read_from(source))
    }

    /// Compiled once instead of once for every kind of source.
    fn read_all_of(source: &mut dyn Read) -> Result<ResultFile, FileError> {
        let mut head = Vec::new();
        (&mut *source).take(READ_BYTES as u64).read_to_end(&mut head).map_err(FileError::Unreadable)?;
        let mut schema = guard::schema_of(&head);
        if schema.is_none() {
            (&mut *source).take(HEAD_BYTES).read_to_end(&mut head).map_err(FileError::Unreadable)?;
            schema = guard::schema_of(&head);
        }
        let source = &mut head.as_slice().chain(source);
        let mut file = match schema {
            Some(schema) if schema == WHY_SCHEMA => why_v1::brought_up_to_date(document(source, &[WHY_SCHEMA])?),
            // What comes before the schema may have another form than today's.
            Some(found) if !SCHEMAS.contains(&found.as_str()) => return Err(FileError::OtherSchema { found }),
            _ => document(source, SCHEMAS)?,
        };
        if file.schema == v1::SCHEMA {
            v1::bring_up_to_date(&mut file);
        }
        if file.schema == v2::SCHEMA {
            v2::bring_up_to_date(&mut file);
        }
        match file.fault() {
            Some(fault) => Err(FileError::Inconsistent(fault)),
            None => Ok(file),
        }
    }

    /// Writes the file: one JSON document on one line, ending in a newline.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn write_to(&self, mut writer: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut writer, self)?;
        writer.write_all(b"\n")
    }

    /// The file's bytes: one JSON document on one line, ending in a newline.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).expect("plain data always serializes");
        bytes
    }

    /// The series with this key.
    pub fn series(&self, key: impl AsRef<str>) -> Option<&Series> {
        self.series.iter().find(|series| series.key == *key.as_ref())
    }

    /// The series of one experiment.
    pub fn experiment(&self, id: ExperimentId) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(move |series| series.experiment == id)
    }

    /// The clock with this name.
    pub fn clock(&self, name: &str) -> Option<&ClockResult> {
        self.clocks.iter().find(|clock| clock.name == name)
    }
}
