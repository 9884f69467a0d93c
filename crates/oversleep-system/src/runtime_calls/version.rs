//! Versions of runtimes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A version: numbers, the most significant first. `17` is less than `17.0.9`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Vec<u32>);

/// A text is no version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no version; write one like 17, 3.11, 1.8.0_392, v20.11, go1.22 or net8.0")]
pub struct VersionError(String);

/// How what follows the numbers of a version may begin: a build, or a version before the release.
const SUFFIXES: &[&str] = &["+", "-", "rc", "alpha", "beta", "a", "b", "preview", " "];

impl Version {
    /// A version of these numbers.
    pub fn of(numbers: &[u32]) -> Version {
        Version(numbers.to_vec())
    }

    /// Whether the other begins with these numbers: 17 is the start of 17.0.9.
    pub fn is_start_of(&self, other: &Version) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The version as records of that runtime count: Java's 1.8 is 8.
    #[must_use]
    pub(super) fn counted(&self, family: &str) -> Version {
        match self.0.as_slice() {
            [1, rest @ ..] if family == "java" && !rest.is_empty() => Version(rest.to_vec()),
            _ => self.clone(),
        }
    }

    /// The last version before this one, with as many numbers: 20 before 21, 1.22 before 1.23.
    pub(super) fn preceding(&self) -> Option<Version> {
        let (last, rest) = self.0.split_last()?;
        Some(Version([rest, &[last.checked_sub(1)?]].concat()))
    }

    /// The numbers of .NET Framework are written without dots: `net48`, `net472`.
    fn of_framework(name: &str, digits: &str) -> Option<Version> {
        let is_one = name == "net" && digits.len() > 1 && digits.starts_with(['2', '3', '4']);
        let numbers = digits.chars().map(|digit| digit.to_digit(10));
        is_one.then(|| numbers.collect::<Option<Vec<u32>>>())?.map(Version)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Version, VersionError> {
        let wrong = || VersionError(text.to_owned());
        let typed = text.trim();
        let (name, rest) = typed.split_at(typed.find(|c: char| c.is_ascii_digit()).ok_or_else(wrong)?);
        let name = name.to_ascii_lowercase();
        if !name.chars().all(|c| c.is_ascii_alphabetic() || " .-_/".contains(c)) {
            return Err(wrong());
        }
        let end = rest.find(|c: char| !c.is_ascii_digit() && !"._".contains(c)).unwrap_or(rest.len());
        let (numbers, suffix) = rest.split_at(end);
        if !suffix.is_empty() && !SUFFIXES.iter().any(|begin| suffix.starts_with(begin)) {
            return Err(wrong());
        }
        if let Some(version) = Version::of_framework(&name, numbers) {
            return Ok(version);
        }
        let numbers: Result<Vec<u32>, _> = numbers.split(['.', '_']).map(str::parse).collect();
        numbers.map(Version).map_err(|_| wrong())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_people_write_them() {
        for (text, read) in [
            ("1.8.0_392", "1.8.0.392"),
            ("8", "8"),
            ("17.0.9", "17.0.9"),
            ("jdk-17.0.9+9", "17.0.9"),
            ("21-ea", "21"),
            ("v20.11", "20.11"),
            ("3.11.4", "3.11.4"),
            ("3.13.0rc1", "3.13.0"),
            ("python3.11", "3.11"),
            ("go1.22", "1.22"),
            ("net8.0", "8.0"),
            ("net8", "8"),
            ("net10.0", "10.0"),
            ("netcoreapp3.1", "3.1"),
            (".NET 8", "8"),
            (".NET Core 3.1", "3.1"),
            ("net48", "4.8"),
            ("net472", "4.7.2"),
            (".NET Framework 4.8", "4.8"),
            ("OTP 27", "27"),
        ] {
            assert_eq!(text.parse::<Version>().map(|version| version.to_string()), Ok(read.to_owned()), "{text}");
        }
        for text in ["3.x", "", "new", "3..1", "1.8!", "(3)"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
        assert_eq!("1.8.0_392".parse::<Version>().expect("it is one").counted("java").to_string(), "8.0.392");
        assert_eq!("1.22".parse::<Version>().expect("it is one").counted("go").to_string(), "1.22");
    }
}
