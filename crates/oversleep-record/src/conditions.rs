//! The conditions a series was measured under: what was requested of the machine and what it granted.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

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
            // 0 is a nice value, but no valid priority of a real-time policy, so it is shown for one.
            Setting::Policy { policy, priority: 0 } if !matches!(policy.as_str(), "fifo" | "rr") => f.write_str(policy),
            Setting::Policy { policy, priority } => write!(f, "{policy}:{priority}"),
        }
    }
}

/// Numbers in ascending order as ranges: `0-3,8`.
pub fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let texts = ranges.into_iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    texts.collect::<Vec<_>>().join(",")
}

impl Setting {
    /// A short form for messages: CPUs as ranges, since there may be thousands.
    pub fn brief(&self) -> String {
        match self {
            Setting::Cpus(cpus) => ranges(cpus),
            other => other.to_string(),
        }
    }

    /// The form that is typed and that keys contain: `1ms`, `on`, `fifo:80`.
    pub fn as_typed(&self) -> String {
        match self {
            Setting::Nanos(span) => span.as_typed(),
            other => other.to_string(),
        }
    }
}

/// A text is not a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a setting; give on, off, a span like 1ms, or a policy like fifo:80")]
pub struct SettingError(String);

/// Reads `on`, `off`, `1ms` and `fifo:80`. CPUs are not read: a list of numbers could be anything.
impl FromStr for Setting {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Setting, SettingError> {
        if let "on" | "off" = text {
            return Ok(Setting::Flag(text == "on"));
        }
        if let Ok(span) = text.parse() {
            return Ok(Setting::Nanos(span));
        }
        let (policy, priority) = text.split_once(':').unwrap_or((text, "0"));
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_name = policy.starts_with(|c: char| c.is_ascii_lowercase()) && policy.chars().all(is_letter);
        match priority.parse() {
            Ok(priority) if is_name => Ok(Setting::Policy { policy: policy.to_owned(), priority }),
            _ => Err(SettingError(text.to_owned())),
        }
    }
}

/// A thread's setting of a tunable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// Nothing: it is as it was found.
    AsFound,
    /// This setting.
    Setting(Setting),
}

const AS_FOUND: &str = "as-found";

/// The form in labels and keys: `as-found`, `1ms`.
impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Held::AsFound => f.write_str(AS_FOUND),
            Held::Setting(setting) => f.write_str(&setting.as_typed()),
        }
    }
}

impl FromStr for Held {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Held, SettingError> {
        if text == AS_FOUND { Ok(Held::AsFound) } else { text.parse().map(Held::Setting) }
    }
}

/// The settings of neighbours, one each, in the order in which they start; empty for one neighbour that holds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldSettings(pub Vec<Setting>);

const NOTHING: &str = "none";

impl HeldSettings {
    /// One neighbour that holds nothing.
    pub const NOTHING: HeldSettings = HeldSettings(Vec::new());

    /// The span that a single neighbour holds.
    pub fn only_span(&self) -> Option<Nanos> {
        match self.0.as_slice() {
            [Setting::Nanos(span)] => Some(*span),
            _ => None,
        }
    }

    /// The shortest span among them.
    pub fn shortest(&self) -> Option<Nanos> {
        let spans = self.0.iter().filter_map(|setting| match setting {
            Setting::Nanos(span) => Some(*span),
            _ => None,
        });
        spans.min()
    }
}

/// The form in labels and keys: `none`, `2ms`, `2ms+4ms`.
impl fmt::Display for HeldSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => f.write_str(NOTHING),
            settings => f.write_str(&settings.iter().map(Setting::as_typed).collect::<Vec<_>>().join("+")),
        }
    }
}

impl FromStr for HeldSettings {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<HeldSettings, SettingError> {
        match text {
            NOTHING => Ok(HeldSettings::default()),
            _ => text.split('+').map(str::parse).collect::<Result<_, _>>().map(HeldSettings),
        }
    }
}

/// The outcome of a requested setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Changed, and restored to `was` afterwards. `was` is `None` if the value before is not readable.
    Applied {
        /// Before.
        was: Option<Setting>,
        /// While measuring.
        now: Setting,
    },
    /// The setting was in effect already; nothing was changed.
    AlreadySo {
        /// The value found.
        is: Setting,
    },
    /// The system refused, and the measurement went on without it.
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

/// What was requested, by tunable name. Empty means "as found": nothing was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Settings requested (registry name → value).
    #[serde(default, alias = "asked", skip_serializing_if = "BTreeMap::is_empty")]
    pub requested: BTreeMap<String, Setting>,
    /// The outcome of each, by the same names; filled in while measuring.
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

    /// These conditions with one more setting requested.
    pub fn with(mut self, tunable: &str, setting: Setting) -> Conditions {
        self.requested.insert(tunable.to_owned(), setting);
        self
    }

    /// These conditions with one more load.
    pub fn with_load(mut self, kind: &str, hogs: u32) -> Conditions {
        self.load.push(LoadSpec { kind: kind.to_owned(), hogs });
        self
    }

    /// Whether nothing was requested.
    pub fn is_as_found(&self) -> bool {
        self.requested.is_empty() && self.load.is_empty()
    }

    /// Whether every requested setting was in effect.
    pub fn all_held(&self) -> bool {
        self.requested.keys().all(|name| self.outcomes.get(name).is_some_and(Outcome::holds))
    }

    /// The setting requested of one tunable.
    pub fn setting(&self, tunable: &str) -> Option<&Setting> {
        self.requested.get(tunable)
    }

    /// Whether both request the same, regardless of the outcomes.
    pub fn same_request(&self, other: &Conditions) -> bool {
        self.requested == other.requested && self.load == other.load
    }
}

/// `as found`, or `slack=1 ns policy=fifo:80 load=spin:2`.
impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_as_found() {
            return f.write_str("as found");
        }
        let tunables = self.requested.iter().map(|(name, setting)| format!("{name}={setting}"));
        let loads = self.load.iter().map(|load| format!("load={load}"));
        f.write_str(&tunables.chain(loads).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_written_as_requested() {
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
    fn settings_are_told_by_their_form() {
        let policy = |policy: &str, priority| Setting::Policy { policy: policy.into(), priority };
        for (text, setting) in [
            ("2ms", Setting::Nanos(Nanos::from_millis(2))),
            ("on", Setting::Flag(true)),
            ("off", Setting::Flag(false)),
            ("fifo:80", policy("fifo", 80)),
            ("fifo:0", policy("fifo", 0)),
            ("tier-3", policy("tier-3", 0)),
        ] {
            assert_eq!(text.parse(), Ok(setting.clone()));
            assert_eq!(setting.as_typed(), text);
        }
        for text in ["", "12", "fifo:high", "3x", "Fifo"] {
            assert_eq!(text.parse::<Setting>(), Err(SettingError(text.to_owned())));
        }
    }

    #[test]
    fn what_is_held_reads_back() {
        let ms = |ms| Setting::Nanos(Nanos::from_millis(ms));
        for (text, held) in [("as-found", Held::AsFound), ("1ms", Held::Setting(ms(1)))] {
            assert_eq!((text.parse(), held.to_string()), (Ok(held.clone()), text.to_owned()));
        }
        for (text, settings) in [("none", vec![]), ("2ms", vec![ms(2)]), ("4ms+2ms", vec![ms(4), ms(2)])] {
            let held = HeldSettings(settings);
            assert_eq!((text.parse(), held.to_string()), (Ok(held.clone()), text.to_owned()));
        }
        let shortest = |text: &str| text.parse::<HeldSettings>().unwrap().shortest();
        assert_eq!(["none", "4ms+2ms", "tier-3"].map(shortest), [None, Some(Nanos::from_millis(2)), None]);
        let only = |text: &str| text.parse::<HeldSettings>().unwrap().only_span();
        assert_eq!(["none", "4ms+2ms", "2ms"].map(only), [None, None, Some(Nanos::from_millis(2))]);
        assert!("2ms+".parse::<HeldSettings>().is_err());
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
