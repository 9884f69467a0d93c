//! Ids of experiments. Each is written as text once, here; a file may hold ids that this version doesn't know.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest id, in bytes.
const LENGTH_MAX: usize = 15;

/// An experiment's id as files and people write it: a letter for the family and a number, `B5`.
///
/// An id that only a later version knows is kept as it was written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExperimentId {
    /// Padded with zeros.
    text: [u8; LENGTH_MAX],
}

/// A text that is no experiment's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an experiment's id has 1 to {LENGTH_MAX} letters, digits or signs of ASCII, without blanks, like B5")]
pub struct ExperimentIdError;

macro_rules! ids {
    ($($(#[doc = $doc:literal])* $name:ident $text:literal;)*) => {
        impl ExperimentId {
            $($(#[doc = $doc])* pub const $name: ExperimentId = ExperimentId::new($text);)*
        }

        #[cfg(test)]
        const LISTED: &[ExperimentId] = &[$(ExperimentId::$name),*];
    };
}

ids! {
    /// What one read of each clock costs.
    A1 "A1";
    /// What each clock indicates of a known wait.
    A2 "A2";
    /// What each clock counts: elapsed time, time of day or CPU time.
    A3 "A3";
    /// How finely and how steadily each clock moves.
    A4 "A4";
    /// The rate of each clock against the reference.
    A5 "A5";
    /// Which clock fits which purpose.
    A6 "A6";
    /// One sleep timed by a coarse and by a precise clock.
    B1 "B1";
    /// A sweep of requests.
    B2 "B2";
    /// The steps of coarse clocks, polled.
    B3 "B3";
    /// Loops of `usleep`.
    B4 "B4";
    /// Every wait at several requests.
    B5 "B5";
    /// Back to back against random phase.
    B6 "B6";
    /// Calls that yield the CPU.
    B7 "B7";
    /// Waits under each scheduling policy.
    B8 "B8";
    /// Waits beside busy threads.
    B9 "B9";
    /// Java's `parkNanos` as published.
    B10 "B10";
    /// What was published as raising Windows' timer resolution for Java.
    B11 "B11";
    /// Waits that end by spinning.
    B12 "B12";
    /// What the system states about its timers.
    C1 "C1";
    /// Waits under each setting of the resolution tunable.
    C2 "C2";
    /// This process while one neighbour holds a setting.
    C3 "C3";
    /// This process while two neighbours hold settings.
    C4 "C4";
    /// What holding a setting costs.
    C5 "C5";
    /// How many threads' timers share interrupts.
    C6 "C6";
    /// What changes while the machine is used.
    C7 "C7";
    /// Fork-join of eight threads.
    D1 "D1";
    /// The same work on one thread.
    D2 "D2";
    /// Generations per second.
    D3 "D3";
    /// Waking another thread.
    D4 "D4";
    /// A queue's consumer by how it waits for items.
    E1 "E1";
    /// The throughput of a queue by its size and by how long a park takes.
    E2 "E2";
    /// The waits of language runtimes at several requests.
    R1 "R1";
    /// How each runtime rounds a request.
    R2 "R2";
    /// The clocks of language runtimes.
    R3 "R3";
    /// The investigation of GetTickCount64, in Free Pascal.
    R4 "R4";
    /// The throughput and latency of a streaming engine.
    R5 "R5";
    /// The timed waits of observed programs.
    Y1 "Y1";
    /// A remedy tried: the same wait without and with it.
    TRIAL "trial";
}

impl ExperimentId {
    /// Declares an id, for experiments that no finding and no section names. Code uses the constant, so that a misspelt
    /// id doesn't compile; ids in a file are parsed.
    ///
    /// # Panics
    /// If the text is no id; in a constant this is a compile error.
    pub const fn new(id: &str) -> ExperimentId {
        match ExperimentId::read(id) {
            Some(id) => id,
            None => panic!("an experiment's id has 1 to 15 signs of ASCII without blanks"),
        }
    }

    const fn read(id: &str) -> Option<ExperimentId> {
        let (bytes, mut text, mut at) = (id.as_bytes(), [0; LENGTH_MAX], 0);
        if bytes.is_empty() || bytes.len() > LENGTH_MAX {
            return None;
        }
        while at < bytes.len() {
            if !bytes[at].is_ascii_graphic() {
                return None;
            }
            text[at] = bytes[at];
            at += 1;
        }
        Some(ExperimentId { text })
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        let length = self.text.iter().position(|&byte| byte == 0).unwrap_or(LENGTH_MAX);
        std::str::from_utf8(&self.text[..length]).unwrap_or_default()
    }

    /// Whether `typed` means this id, in upper or lower case.
    pub fn is_typed(&self, typed: &str) -> bool {
        self.as_str().eq_ignore_ascii_case(typed)
    }
}

impl FromStr for ExperimentId {
    type Err = ExperimentIdError;

    fn from_str(id: &str) -> Result<ExperimentId, ExperimentIdError> {
        ExperimentId::read(id).ok_or(ExperimentIdError)
    }
}

impl fmt::Display for ExperimentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for ExperimentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ExperimentId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ExperimentId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ExperimentId, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ExperimentId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ExperimentId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "An experiment's id: `B5`. Later versions may have others.",
            "pattern": format!("^[!-~]{{1,{LENGTH_MAX}}}$"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_reads_back_and_none_is_listed_twice() {
        for (at, id) in LISTED.iter().enumerate() {
            assert_eq!(id.as_str().parse(), Ok(*id));
            assert_eq!(serde_json::to_value(id).unwrap(), serde_json::json!(id.as_str()));
            assert!(!LISTED[..at].contains(id), "{id} is listed twice");
        }
        assert_eq!((ExperimentId::B12.as_str(), ExperimentId::TRIAL.to_string()), ("B12", "trial".to_owned()));
        assert!(ExperimentId::B12.is_typed("b12") && !ExperimentId::B12.is_typed("B1"));
    }

    #[test]
    fn an_id_of_a_later_version_is_kept() {
        let later: ExperimentId = serde_json::from_str("\"E17\"").unwrap();
        assert_eq!((later.as_str(), serde_json::to_string(&later).unwrap()), ("E17", "\"E17\"".to_owned()));
        assert!(!LISTED.contains(&later));
        assert_eq!(serde_json::from_str::<ExperimentId>("\"\\u0045\\u0031\"").unwrap().as_str(), "E1", "escaped");
    }

    #[test]
    fn what_no_version_writes_is_refused() {
        for text in ["", " ", "B 5", "B5\n", "an-id-much-too-long", "Ü", "B\0"] {
            assert_eq!(text.parse::<ExperimentId>(), Err(ExperimentIdError), "{text:?}");
        }
        assert_eq!("fifteen-letters".parse::<ExperimentId>().map(|id| id.as_str().len()), Ok(15));
    }

    #[test]
    fn an_entry_may_declare_its_own() {
        const OWN: ExperimentId = ExperimentId::new("B13");
        assert_eq!("B13".parse(), Ok(OWN));
    }

    #[test]
    fn ids_are_patterns() {
        let kind = |id| match id {
            ExperimentId::A1 => "cost",
            ExperimentId::B1 | ExperimentId::B2 => "duration",
            _ => "other",
        };
        assert_eq!(
            [kind(ExperimentId::A1), kind(ExperimentId::B2), kind(ExperimentId::D4)],
            ["cost", "duration", "other"]
        );
    }
}
