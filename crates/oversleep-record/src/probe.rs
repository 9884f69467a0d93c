//! The records of `probes/PROTOCOL.md` that a probe of a language runtime writes, parsed and checked. Pure: the caller
//! provides the lines, from a running probe or from a recording.

use serde::Deserialize;

/// The version of the protocol. A program that speaks an older one is understood, too.
pub const PROTOCOL: u32 = 2;
/// The longest name of an operation, in bytes.
const NAME_LENGTH_MAX: usize = 60;
/// How many characters of a line an error repeats at most.
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
    /// Items that were passed on, window by window.
    R(Windows),
    /// Nothing was measured.
    Skip {
        /// The operation.
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
    /// It passes items on as fast as it can.
    Rate,
    /// It passes items on that are due at fixed times.
    Latency,
}

/// The first record of a probe.
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
    /// The time by that clock just before the record was written, in ns.
    pub now: i64,
}

/// Waits of one step.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Samples {
    /// The operation.
    pub op: String,
    /// What was requested, in ns.
    pub requested: i64,
    /// What was passed to the call, in ns.
    pub rounded: i64,
    /// The number of waits.
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
    /// The number of batches.
    pub n: usize,
    /// The number of reads per batch.
    pub reads: i64,
    /// How long each batch took, in ns.
    pub d: Vec<i64>,
    /// Differences between consecutive unequal readings, in ns.
    pub step: Vec<i64>,
}

/// Windows of one step, each with the items that were passed on in it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Windows {
    /// The operation.
    pub op: String,
    /// The requested length of each window, in ns.
    pub requested: i64,
    /// The number of windows.
    pub n: usize,
    /// `ns`.
    pub unit: String,
    /// When each began, by the probe's clock.
    pub t: Vec<i64>,
    /// How long each was.
    pub d: Vec<i64>,
    /// The number of items in each.
    pub items: Vec<i64>,
    /// CPU time meanwhile, in ns.
    #[serde(default)]
    pub cpu: Option<i64>,
}

/// Why a line is not a record.
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
        /// The operation.
        op: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// It follows another version of the protocol.
    #[error("it speaks version {found} of the protocol, and oversleep versions 1 to {PROTOCOL}")]
    OtherVersion {
        /// Its version.
        found: u32,
    },
}

/// Whether this is a valid name of an operation.
pub fn is_op_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'@' | b'/' | b'"' | b'\\' | b'{' | b'}');
    (1..=NAME_LENGTH_MAX).contains(&name.len()) && name.bytes().all(is_letter)
}

impl Record {
    /// The record in a line; `None` for a line that the runtime printed itself.
    ///
    /// # Errors
    /// The fault in the record.
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
            Record::Hello(Hello { proto, .. }) if !(1..=PROTOCOL).contains(proto) => {
                return Err(RecordError::OtherVersion { found: *proto });
            }
            Record::Hello(hello) => ("hello", hello.fault()),
            Record::Op { op, .. } | Record::Skip { op, .. } => (op.as_str(), None),
            Record::S(samples) => (samples.op.as_str(), samples.fault()),
            Record::C(reads) => (reads.op.as_str(), reads.fault()),
            Record::R(windows) => (windows.op.as_str(), windows.fault()),
            Record::End { .. } => return Ok(self),
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

/// The longest plausible duration: an hour.
const DURATION_MAX_NS: i64 = 3_600_000_000_000;

impl Hello {
    fn fault(&self) -> Option<&'static str> {
        let is_short = |text: &String| text.chars().count() <= NAME_LENGTH_MAX && !text.chars().any(char::is_control);
        let is_fine = !self.runtime.is_empty() && [&self.runtime, &self.version, &self.clock].into_iter().all(is_short);
        (!is_fine)
            .then_some("names a runtime, version or clock of no letters, of control characters or of more than 60")
    }
}

impl Samples {
    fn fault(&self) -> Option<&'static str> {
        let is_plausible = |&d: &i64| (-DURATION_MAX_NS..=DURATION_MAX_NS).contains(&d);
        if self.unit != "ns" {
            Some("has another unit than ns")
        } else if self.t.len() != self.n || self.d.len() != self.n {
            Some("has other numbers of timestamps and durations than its n")
        } else if self.n == 0 {
            Some("has no durations; `skip` says why there are none")
        } else if self.requested < 0 || self.rounded < 0 || self.requested > DURATION_MAX_NS {
            Some("has a request that is below zero or above an hour")
        } else if !self.d.iter().all(is_plausible) {
            Some("has a duration above an hour")
        } else {
            None
        }
    }
}

impl Windows {
    fn fault(&self) -> Option<&'static str> {
        if self.unit != "ns" {
            Some("has another unit than ns")
        } else if [self.t.len(), self.d.len(), self.items.len()].iter().any(|&len| len != self.n) {
            Some("has other numbers of timestamps, durations and items than its n")
        } else if !(1..=DURATION_MAX_NS).contains(&self.requested) {
            Some("has a request that is not above zero or above an hour")
        } else if self.d.iter().any(|d| !(1..=DURATION_MAX_NS).contains(d)) || self.items.iter().any(|&items| items < 0)
        {
            Some("has a window that is not above zero or above an hour, or fewer than no items")
        } else {
            None
        }
    }

    /// The start of each window, and its items per second.
    pub fn rates(&self) -> impl Iterator<Item = (i64, i64)> {
        let per_second = |(d, items): (&i64, &i64)| {
            i64::try_from(i128::from(*items) * 1_000_000_000 / i128::from(*d)).unwrap_or(i64::MAX)
        };
        self.t.iter().copied().zip(self.d.iter().zip(&self.items).map(per_second))
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
        let hello = |proto: u32| {
            read(&format!(r#"{{"type":"hello","proto":{proto},"runtime":"c","version":"1","clock":"m","now":5}}"#))
        };
        assert!(hello(1).is_ok() && hello(PROTOCOL).is_ok());
        assert_eq!(hello(3).unwrap_err(), "it speaks version 3 of the protocol, and oversleep versions 1 to 2");
        assert!(hello(0).is_err());
        for (runtime, clock) in [("", "m"), ("a\\nb", "m"), ("c", "\\u001b[31m"), (&*"x".repeat(61), "m")] {
            let hello = format!(
                r#"{{"type":"hello","proto":1,"runtime":"{runtime}","version":"1","clock":"{clock}","now":5}}"#
            );
            let error = read(&hello).unwrap_err();
            assert!(error.starts_with("a record of hello names a runtime, version or clock of no letters"), "{error}");
        }
        let name = r#"{"type":"op","op":"a/b","kind":"wait"}"#;
        assert_eq!(read(name).unwrap_err(), "a record of a/b has a name that no operation can have");
    }

    #[test]
    fn windows_say_how_many_items_passed_per_second() {
        let windows = |d: &str, items: &str| {
            let head = r#"{"type":"r","op":"flat-out","requested":1000000000,"n":2,"unit":"ns","t":[5,6]"#;
            read(&format!(r#"{head},"d":[{d}],"items":[{items}]}}"#))
        };
        let Ok(Some(Record::R(two))) = windows("1000000000,500000000", "7,9000000000") else {
            panic!("they are a record")
        };
        assert_eq!(two.rates().collect::<Vec<_>>(), [(5, 7), (6, 18_000_000_000)]);
        let fault = |d, items| windows(d, items).unwrap_err();
        let counts = "a record of flat-out has other numbers of timestamps, durations and items than its n";
        assert_eq!(fault("1", "1,2"), counts);
        assert!(fault("0,1", "1,2").contains("a window that is not above zero"));
        assert!(fault("1,1", "1,-2").contains("fewer than no items"));
    }
}
