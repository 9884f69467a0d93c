//! What a probe of a language runtime writes: the records of `probes/PROTOCOL.md`, read and checked. Pure: lines come from
//! whoever runs the probe, or from a file of recorded ones.

use serde::Deserialize;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;
/// The longest name of an operation, in bytes.
const NAME_LENGTH_MAX: usize = 60;
/// Most characters of a line that an error repeats.
const SHOWN_CHARS_MAX: usize = 60;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Record {
    /// The first one.
    Hello(Hello),
    /// The name of something that can be measured.
    Op {
        /// Its name.
        op: String,
        /// What it is.
        kind: OpKind,
    },
    /// Waits, or work.
    S(Samples),
    /// Reads of a clock.
    C(Reads),
    /// Nothing was measured.
    Skip {
        /// Of this.
        op: String,
        /// The reason.
        why: String,
    },
    /// The last one.
    End {
        /// The probe's clock, in ns.
        now: i64,
    },
}

/// What an operation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpKind {
    /// It waits as long as requested.
    #[default]
    Wait,
    /// It reads a clock.
    Clock,
    /// It computes.
    Work,
}

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// Version of the protocol.
    pub proto: u32,
    /// The runtime.
    pub runtime: String,
    /// Its version, as it states it.
    pub version: String,
    /// The clock of all timestamps.
    pub clock: String,
    /// What that clock showed just before the record was written, in ns.
    pub now: i64,
}

/// Waits of one step.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Samples {
    /// What waited.
    pub op: String,
    /// What was requested, in ns.
    pub requested: i64,
    /// What was passed to the call, in ns.
    pub rounded: i64,
    /// How many.
    pub n: usize,
    /// `ns`.
    pub unit: String,
    /// When each began, by the probe's clock.
    pub t: Vec<i64>,
    /// How long each took.
    pub d: Vec<i64>,
    /// Another clock that the durations come from.
    #[serde(default)]
    pub by: Option<String>,
    /// CPU time meanwhile, in ns.
    #[serde(default)]
    pub cpu: Option<i64>,
    /// Garbage collections meanwhile.
    #[serde(default)]
    pub gc: Option<u64>,
}

/// Reads of a clock.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Reads {
    /// The clock.
    pub op: String,
    /// How many batches.
    pub n: usize,
    /// How many reads a batch has.
    pub reads: i64,
    /// How long each batch took, in ns.
    pub d: Vec<i64>,
    /// Differences of consecutive readings that differ, in ns.
    pub step: Vec<i64>,
}

/// Why a line is no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It is not JSON of a record's shape.
    #[error("'{line}' is not a record of the protocol: {error}")]
    Malformed {
        /// Its beginning.
        line: String,
        /// What is wrong with it.
        error: String,
    },
    /// What it states contradicts itself.
    #[error("a record of {op} {fault}")]
    Inconsistent {
        /// What it is about.
        op: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// It follows another version of the protocol.
    #[error("it speaks version {found} of the protocol, and oversleep version {PROTOCOL}")]
    OtherVersion {
        /// Its version.
        found: u32,
    },
}

/// Whether operations can have that name.
pub fn is_op_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'@' | b'/' | b'"' | b'\\' | b'{' | b'}');
    (1..=NAME_LENGTH_MAX).contains(&name.len()) && name.bytes().all(is_letter)
}

impl Record {
    /// The record in a line; `None` for lines that a runtime printed on its own.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(line: &str) -> Result<Option<Record>, RecordError> {
        let line = line.trim_end_matches(['\r', '\n']);
        if !line.starts_with('{') {
            return Ok(None);
        }
        let malformed = |error: serde_json::Error| RecordError::Malformed {
            line: line.chars().take(SHOWN_CHARS_MAX).map(|c| if c.is_control() { '?' } else { c }).collect(),
            error: error.to_string(),
        };
        let record: Record = serde_json::from_str(line).map_err(malformed)?;
        record.checked().map(Some)
    }

    fn checked(self) -> Result<Record, RecordError> {
        let (op, fault) = match &self {
            Record::Hello(Hello { proto, .. }) if *proto != PROTOCOL => {
                return Err(RecordError::OtherVersion { found: *proto });
            }
            Record::Op { op, .. } | Record::Skip { op, .. } => (op.as_str(), None),
            Record::S(samples) => (samples.op.as_str(), samples.fault()),
            Record::C(reads) => (reads.op.as_str(), reads.fault()),
            Record::Hello(_) | Record::End { .. } => return Ok(self),
        };
        let fault = fault.or_else(|| (!is_op_name(op)).then_some("has a name that no operation can have"));
        match fault {
            None => Ok(self),
            Some(fault) => {
                let op = op.chars().take(NAME_LENGTH_MAX).map(|c| if c.is_control() { '?' } else { c }).collect();
                Err(RecordError::Inconsistent { op, fault })
            }
        }
    }
}

/// The longest duration that is believed: an hour.
const DURATION_MAX_NS: i64 = 3_600_000_000_000;

impl Samples {
    fn fault(&self) -> Option<&'static str> {
        let is_plausible = |&d: &i64| (-DURATION_MAX_NS..=DURATION_MAX_NS).contains(&d);
        if self.unit != "ns" {
            Some("has another unit than ns")
        } else if self.t.len() != self.n || self.d.len() != self.n {
            Some("has other numbers of timestamps and durations than its n")
        } else if self.requested < 0 || self.rounded < 0 || self.requested > DURATION_MAX_NS {
            Some("has a request that is below zero or above an hour")
        } else if !self.d.iter().all(is_plausible) {
            Some("has a duration above an hour")
        } else {
            None
        }
    }
}

impl Reads {
    fn fault(&self) -> Option<&'static str> {
        if self.d.len() != self.n || self.reads <= 0 {
            Some("has another number of batches than its n, or batches without reads")
        } else if self.d.iter().chain(&self.step).any(|ns| !(0..=DURATION_MAX_NS).contains(ns)) {
            Some("has a duration or a step below zero or above an hour")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<Record>, String> {
        Record::read(line).map_err(|error| error.to_string())
    }

    #[test]
    fn records_are_read_and_other_lines_are_left_alone() {
        for line in ["", "Picked up JAVA_TOOL_OPTIONS", " {", "warning: {\"type\":\"end\"}"] {
            assert_eq!(read(line), Ok(None), "{line}");
        }
        let hello = r#"{"type":"hello","proto":1,"runtime":"c","version":"12","clock":"m","now":5,"pid":3,"later":[]}"#;
        assert!(matches!(read(hello), Ok(Some(Record::Hello(Hello { now: 5, .. })))));
        let end = "{\"now\":7,\"type\":\"end\"}\r\n";
        assert_eq!(read(end), Ok(Some(Record::End { now: 7 })));
        let samples = r#"{"type":"s","op":"poll","requested":1,"rounded":1,"n":2,"unit":"ns","t":[1,2],"d":[3,-4]}"#;
        assert!(matches!(read(samples), Ok(Some(Record::S(samples))) if samples.d == [3, -4] && samples.gc.is_none()));
        let reads = r#"{"type":"c","op":"rdtsc","n":1,"reads":1000,"d":[8692],"step":[]}"#;
        assert!(matches!(read(reads), Ok(Some(Record::C(_)))));
    }

    #[test]
    fn what_is_wrong_with_a_record_is_said_in_a_line() {
        let samples = |n: &str, unit: &str, d: &str| {
            let head = r#"{"type":"s","op":"poll","requested":1,"rounded":1"#;
            read(&format!(r#"{head},"n":{n},"unit":"{unit}","t":[1],"d":[{d}]}}"#)).unwrap_err()
        };
        assert_eq!(
            samples("2", "ns", "1"),
            "a record of poll has other numbers of timestamps and durations than its n"
        );
        assert_eq!(samples("1", "ms", "1"), "a record of poll has another unit than ns");
        assert_eq!(samples("1", "ns", "9223372036854775807"), "a record of poll has a duration above an hour");
        let nan = samples("1", "ns", "NaN");
        assert!(nan.starts_with(r#"'{"type":"s","op":"poll","requested":1,"#) && nan.contains("protocol"), "{nan}");
        for odd in ["{", "{}", r#"{"type":"later"}"#, "{\"type\":\"end\",\"now\":1.5}"] {
            assert!(read(odd).unwrap_err().contains("is not a record of the protocol"), "{odd}");
        }
        let hello = r#"{"type":"hello","proto":2,"runtime":"c","version":"1","clock":"m","now":5}"#;
        assert_eq!(read(hello).unwrap_err(), "it speaks version 2 of the protocol, and oversleep version 1");
        let name = r#"{"type":"op","op":"a/b","kind":"wait"}"#;
        assert_eq!(read(name).unwrap_err(), "a record of a/b has a name that no operation can have");
    }
}
