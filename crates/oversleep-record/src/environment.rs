//! Facts about the machine, by stable dotted names; nothing that identifies a person or a host.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fact::FactName;
use crate::reason::Unavailable;
use crate::units::Nanos;

/// An operating system that findings know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    /// Linux.
    Linux,
    /// Windows.
    Windows,
    /// macOS.
    Macos,
}

impl Os {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Os::Linux => "linux",
            Os::Windows => "windows",
            Os::Macos => "macos",
        }
    }
}

/// Which platform a result was taken on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlatformId {
    /// `linux`, `windows`, `macos`.
    pub os: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    /// The profile's name and its changes if the machine is a model in virtual time (`windows-11 with tick=1ms, seed
    /// 7`); `None` on a real machine. The facts `model.name`, `model.set` and `model.seed` have the same separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modelled: Option<String>,
}

impl PlatformId {
    /// A machine that isn't modelled.
    pub fn real(os: impl Into<String>, arch: impl Into<String>) -> PlatformId {
        PlatformId { os: os.into(), arch: arch.into(), modelled: None }
    }

    /// Whether the result was taken on this system, or on a model of it.
    pub fn is(&self, os: Os) -> bool {
        self.os == os.name()
    }
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum FactValue {
    /// Words.
    Text(String),
    /// A count or identifier without a unit, or with the unit in the fact's name.
    Integer(i64),
    /// A fraction or ratio.
    Real(f64),
    /// A span of time.
    Nanos(Nanos),
    /// Yes or no.
    Flag(bool),
    /// Several words.
    List(Vec<String>),
    /// It is not available, and why.
    Unknown(Unavailable),
}

/// As reports say it.
impl fmt::Display for FactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactValue::Text(text) if text.is_empty() => f.write_str("(empty)"),
            FactValue::Text(text) => f.write_str(text),
            FactValue::Integer(number) => write!(f, "{number}"),
            FactValue::Real(number) => write!(f, "{number}"),
            FactValue::Nanos(Nanos(0)) => f.write_str("0 ns"),
            FactValue::Nanos(span) => write!(f, "{span}"),
            FactValue::Flag(flag) => f.write_str(if *flag { "yes" } else { "no" }),
            FactValue::List(words) if words.is_empty() => f.write_str("none"),
            FactValue::List(words) => f.write_str(&words.join(", ")),
            FactValue::Unknown(reason) => write!(f, "unknown: {reason}"),
        }
    }
}

/// One fact, with where it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact {
    /// Its value.
    #[serde(flatten, serialize_with = "as_json_can_say")]
    pub value: FactValue,
    /// The call or file it comes from.
    pub source: String,
}

/// JSON has no infinity and no NaN, so such a ratio is written as unknown.
fn as_json_can_say<S: serde::Serializer>(value: &FactValue, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        FactValue::Real(ratio) if !ratio.is_finite() => {
            FactValue::Unknown(Unavailable::Nonsense { what: ratio.to_string() }).serialize(serializer)
        }
        _ => value.serialize(serializer),
    }
}

/// All facts, by name: `kernel.release`, `timer.slack_ns`, `cpu.count` … Those that only a later version knows are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Environment {
    /// Name → fact.
    pub facts: BTreeMap<String, Fact>,
}

impl Environment {
    /// Adds or replaces a fact.
    pub fn set(&mut self, name: FactName, value: FactValue, source: &str) {
        self.facts.insert(name.into(), Fact { value, source: source.to_owned() });
    }

    /// The value of a fact that is known.
    pub fn known(&self, name: FactName) -> Option<&FactValue> {
        self.facts.get(name.as_str()).map(|fact| &fact.value).filter(|value| !matches!(value, FactValue::Unknown(_)))
    }

    /// A known text.
    pub fn text(&self, name: FactName) -> Option<&str> {
        match self.known(name)? {
            FactValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A known integer.
    pub fn integer(&self, name: FactName) -> Option<i64> {
        match self.known(name)? {
            FactValue::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// A known number, whole or not.
    pub fn real(&self, name: FactName) -> Option<f64> {
        match self.known(name)? {
            FactValue::Real(number) => Some(*number),
            FactValue::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// A known span.
    pub fn nanos(&self, name: FactName) -> Option<Nanos> {
        match self.known(name)? {
            FactValue::Nanos(span) => Some(*span),
            _ => None,
        }
    }

    /// A known yes or no.
    pub fn flag(&self, name: FactName) -> Option<bool> {
        match self.known(name)? {
            FactValue::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// A known list.
    pub fn list(&self, name: FactName) -> Option<&[String]> {
        match self.known(name)? {
            FactValue::List(items) => Some(items),
            _ => None,
        }
    }

    /// Facts that are not available, with the reason.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, &Unavailable)> {
        self.facts.iter().filter_map(|(name, fact)| match &fact.value {
            FactValue::Unknown(reason) => Some((name.as_str(), reason)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_that_is_no_number_is_unknown_in_the_file() {
        for (ratio, what) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
            let mut environment = Environment::default();
            environment.set(FactName::CgroupCpuQuotaCpus, FactValue::Real(ratio), "cpu.max");
            let text = serde_json::to_string(&environment).unwrap();
            let back: Environment = serde_json::from_str(&text).unwrap();
            assert_eq!(back.facts["cgroup.cpu_quota_cpus"].source, "cpu.max");
            let expected = Unavailable::Nonsense { what: what.to_owned() };
            assert_eq!(back.unknown().next(), Some(("cgroup.cpu_quota_cpus", &expected)));
        }
    }

    #[test]
    fn fractions_come_back_to_the_last_bit() {
        // A reader that parses numbers approximately gets the last bit of each of these wrong.
        for ratio in [-23.652698970703234, 27.832792926039286, 9.303141555702021, 94.97636614862243] {
            let text = serde_json::to_string(&FactValue::Real(ratio)).unwrap();
            assert_eq!(serde_json::from_str::<FactValue>(&text).unwrap(), FactValue::Real(ratio));
        }
    }

    #[test]
    fn a_fact_of_a_later_version_is_kept() {
        let text = r#"{"cpu.count":{"type":"integer","value":2,"source":"test"},"moon.phase":{"type":"text","value":"full","source":"sky"}}"#;
        let environment: Environment = serde_json::from_str(text).unwrap();
        assert_eq!(environment.integer(FactName::CpuCount), Some(2));
        assert_eq!(environment.text(FactName::CpuCount), None, "of another type");
        assert_eq!(serde_json::to_string(&environment).unwrap(), text);
    }
}
