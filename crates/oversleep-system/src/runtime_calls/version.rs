//! Versions of runtimes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A version: numbers, the most significant first. `17` is less than `17.0.9`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Vec<u32>);

/// A text is no version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no version; write numbers like 17 or 3.11")]
pub struct VersionError(String);

impl Version {
    /// A version of these numbers.
    pub fn of(numbers: &[u32]) -> Version {
        Version(numbers.to_vec())
    }

    /// Whether the other begins with these numbers: 17 is the start of 17.0.9.
    pub fn is_start_of(&self, other: &Version) -> bool {
        other.0.starts_with(&self.0)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Version, VersionError> {
        let numbers: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        numbers.map(Version).map_err(|_| VersionError(text.to_owned()))
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
