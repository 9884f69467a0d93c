//! Why something is not available. The user sees the reason; it is never an error and never a zero.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a clock, wait, tunable, counter or fact is not available on this machine, to this process, now. As text it is
/// the reason alone, to follow `not available: `.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Unavailable {
    /// This operating system or architecture has no such thing.
    NotOnThisPlatform,
    /// The running system is older than the feature.
    TooOld {
        /// The first version that has it.
        needs: String,
    },
    /// The call was refused for lack of a privilege.
    NotPermitted {
        /// What was refused, in the system's terms.
        what: String,
        /// How an administrator can allow it.
        allow: String,
    },
    /// The hardware, or what the hypervisor shows of it, lacks the feature.
    NoHardware {
        /// What is missing.
        what: String,
    },
    /// The file or device is missing: in a container, or in a kernel built without it.
    Missing {
        /// The file, device or facility.
        what: String,
    },
    /// The system call failed in some other way.
    Failed {
        /// The call.
        call: String,
        /// The system's own words.
        error: String,
    },
    /// It was read, but its value makes no sense.
    Nonsense {
        /// What was read.
        what: String,
    },
    /// This run did not measure it.
    #[serde(alias = "not_asked")]
    NotMeasured,
}

impl Unavailable {
    /// A missing file or facility.
    pub fn missing(what: impl Into<String>) -> Unavailable {
        Unavailable::Missing { what: what.into() }
    }

    /// Missing hardware.
    pub fn no_hardware(what: impl Into<String>) -> Unavailable {
        Unavailable::NoHardware { what: what.into() }
    }

    /// A refusal, with the way to lift it.
    pub fn not_permitted(what: impl Into<String>, allow: impl Into<String>) -> Unavailable {
        Unavailable::NotPermitted { what: what.into(), allow: allow.into() }
    }

    /// A failed call with the system's message.
    pub fn failed(call: impl Into<String>, error: impl fmt::Display) -> Unavailable {
        Unavailable::Failed { call: call.into(), error: error.to_string() }
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::NotOnThisPlatform => write!(f, "not on this platform"),
            Unavailable::TooOld { needs } => write!(f, "needs {needs}"),
            Unavailable::NotPermitted { what, allow } => write!(f, "{what} is not permitted ({allow})"),
            Unavailable::NoHardware { what } => write!(f, "no {what}"),
            // A hint in parentheses stays at the end of the sentence.
            Unavailable::Missing { what } => match what.strip_suffix(')').and_then(|what| what.rsplit_once(" (")) {
                Some((thing, hint)) => write!(f, "{thing} is missing ({hint})"),
                None => write!(f, "{what} is missing"),
            },
            Unavailable::Failed { call, error } => write!(f, "{call}: {error}"),
            Unavailable::Nonsense { what } => write!(f, "made no sense: {what}"),
            Unavailable::NotMeasured => write!(f, "not measured in this run"),
        }
    }
}

impl std::error::Error for Unavailable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_stays_behind_the_sentence() {
        let says = |what: &str| Unavailable::missing(what).to_string();
        assert_eq!(says("/sys/power"), "/sys/power is missing");
        assert_eq!(says("/sys/power (check on the host)"), "/sys/power is missing (check on the host)");
        assert_eq!(says("a list (cpuidle) of states"), "a list (cpuidle) of states is missing");
        assert_eq!(Unavailable::no_hardware("rdtscp instruction").to_string(), "no rdtscp instruction");
    }
}
