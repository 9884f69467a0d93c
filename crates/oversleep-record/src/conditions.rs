//! The conditions a series was measured under: what was asked of the machine and what it granted.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::reason::Unavailable;
use crate::units::Nanos;

/// The value of one tunable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Setting {
    /// A span: timer slack, a latency bound, a timer resolution.
    Nanos(Nanos),
    /// On or off: locked memory.
    Flag(bool),
    /// CPU numbers: affinity.
    Cpus(Vec<u32>),
    /// A scheduling policy with its priority or nice value, as `fifo:80`, `other:5`, `idle`.
    Policy {
        /// `other`, `batch`, `idle`, `fifo`, `rr`; other systems have their own names.
        policy: String,
        /// Real-time priority, or the nice value of a time-sharing policy.
        priority: i32,
    },
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Nanos(span) => span.fmt(f),
            Setting::Flag(true) => f.write_str("on"),
            Setting::Flag(false) => f.write_str("off"),
            Setting::Cpus(cpus) => {
                let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
                f.write_str(&list.join(","))
            }
            // 0 is a nice value, but no priority a real-time policy can have: it is shown.
            Setting::Policy { policy, priority: 0 } if !matches!(policy.as_str(), "fifo" | "rr") => f.write_str(policy),
            Setting::Policy { policy, priority } => write!(f, "{policy}:{priority}"),
        }
    }
}

/// What became of a wish to change something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Changed; it goes back to `was` afterwards. `was` is `None` where the system can't be asked.
    Applied {
        /// Before.
        was: Option<Setting>,
        /// While measuring.
        now: Setting,
    },
    /// It was so already, nothing was changed.
    AlreadySo {
        /// The value found.
        is: Setting,
    },
    /// The system refused; the measurement went on without it.
    Denied {
        /// Why, and how to allow it.
        why: Unavailable,
    },
}

impl Outcome {
    /// Whether the condition held while measuring.
    pub fn holds(&self) -> bool {
        !matches!(self, Outcome::Denied { .. })
    }
}

/// Background load kept up while a series was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadSpec {
    /// The kind's registry name: `spin`, `memory`, `syscalls`, `timers`.
    pub kind: String,
    /// How many hogs of that kind.
    pub hogs: u32,
}

impl fmt::Display for LoadSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.hogs)
    }
}

/// What was asked for, by tunable name. Empty means "as found": nothing was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Tunables asked for (registry name → value).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub asked: BTreeMap<String, Setting>,
    /// What became of each, in the same names; filled in when measured.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outcomes: BTreeMap<String, Outcome>,
    /// Background load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<LoadSpec>,
}

impl Conditions {
    /// Nothing changed, no load.
    pub fn as_found() -> Conditions {
        Conditions::default()
    }

    /// These conditions with one more tunable asked for.
    pub fn with(mut self, tunable: &str, setting: Setting) -> Conditions {
        self.asked.insert(tunable.to_owned(), setting);
        self
    }

    /// These conditions with one more load.
    pub fn with_load(mut self, kind: &str, hogs: u32) -> Conditions {
        self.load.push(LoadSpec { kind: kind.to_owned(), hogs });
        self
    }

    /// Whether nothing was asked for.
    pub fn is_as_found(&self) -> bool {
        self.asked.is_empty() && self.load.is_empty()
    }

    /// Whether every tunable asked for really held.
    pub fn all_held(&self) -> bool {
        self.asked.keys().all(|name| self.outcomes.get(name).is_some_and(Outcome::holds))
    }

    /// The value asked for one tunable.
    pub fn setting(&self, tunable: &str) -> Option<&Setting> {
        self.asked.get(tunable)
    }

    /// Whether both ask for the same, whatever was granted.
    pub fn same_request(&self, other: &Conditions) -> bool {
        self.asked == other.asked && self.load == other.load
    }
}

/// `as found`, or `slack=1 ns policy=fifo:80 load=spin:2`.
impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_as_found() {
            return f.write_str("as found");
        }
        let tunables = self.asked.iter().map(|(name, setting)| format!("{name}={setting}"));
        let loads = self.load.iter().map(|load| format!("load={load}"));
        f.write_str(&tunables.chain(loads).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_was_asked() {
        assert_eq!(Conditions::as_found().to_string(), "as found");
        let conditions = Conditions::as_found()
            .with("slack", Setting::Nanos(Nanos(1)))
            .with("policy", Setting::Policy { policy: "fifo".into(), priority: 80 })
            .with_load("spin", 2);
        assert_eq!(conditions.to_string(), "policy=fifo:80 slack=1 ns load=spin:2");
        assert!(!conditions.all_held(), "nothing was granted yet");
    }

    #[test]
    fn a_number_that_can_not_be_meant_is_shown() {
        let shown = |policy: &str, priority| Setting::Policy { policy: policy.into(), priority }.to_string();
        assert_eq!([shown("fifo", 0), shown("rr", 0), shown("fifo", 80)], ["fifo:0", "rr:0", "fifo:80"]);
        assert_eq!([shown("other", 0), shown("idle", 0), shown("other", 5)], ["other", "idle", "other:5"]);
    }

    #[test]
    fn a_denied_tunable_did_not_hold() {
        let mut conditions = Conditions::as_found().with("lock-memory", Setting::Flag(true));
        conditions.outcomes.insert("lock-memory".into(), Outcome::Denied { why: Unavailable::NotOnThisPlatform });
        assert!(!conditions.all_held());
        conditions.outcomes.insert("lock-memory".into(), Outcome::AlreadySo { is: Setting::Flag(true) });
        assert!(conditions.all_held());
    }
}
