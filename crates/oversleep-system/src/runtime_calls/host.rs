//! Which versions of a runtime a machine is too old for.

use oversleep_record::{Environment, FactName};
use serde::{Deserialize, Serialize};

use super::{Record, Version, known};
use crate::Platform;

/// What a runtime needs of a system from one of its versions on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// The runtime's name in `oversleep runtimes`.
    pub family: String,
    /// As people call it: `.NET`.
    pub runtime: String,
    /// The first version that needs it; without it, all that records are about do.
    #[serde(default)]
    pub from: Option<Version>,
    /// `windows`, `linux`, `macos`.
    pub system: String,
    /// The oldest version of that system that will do: the build of Windows, the version of macOS, the release of Linux.
    pub least: Version,
    /// As people call that: `Windows 10`.
    pub called: String,
    /// Where that is said.
    pub source: String,
}

impl Needs {
    /// As in a sentence: `Go needs Windows 10 from version 1.21 on (https://…)`.
    pub fn sentence(&self) -> String {
        let from = self.from.as_ref().map(|from| format!(" from version {from} on")).unwrap_or_default();
        format!("{} needs {}{from} ({})", self.runtime, self.called, self.source)
    }

    /// Whether that version needs it.
    pub fn is_about(&self, version: &Version) -> bool {
        self.from.as_ref().is_none_or(|from| version.counted(&self.family) >= *from)
    }
}

/// A machine on which runtimes are to run.
#[derive(Clone, Debug)]
pub struct Host {
    os: String,
    /// Unknown for a real machine: what is installed there runs there.
    version: Option<Version>,
}

impl Host {
    /// That platform.
    pub fn of(platform: &dyn Platform) -> Host {
        let id = platform.id();
        match id.modelled {
            Some(_) => Host::described(&id.os, &platform.environment()),
            None => Host { os: id.os, version: None },
        }
    }

    /// A modelled machine with that system and those facts.
    pub fn described(os: &str, facts: &Environment) -> Host {
        let text = |name| facts.text(name).and_then(|text| text.parse().ok());
        let version = match os {
            "windows" => {
                facts.integer(FactName::OsBuild).and_then(|build| Some(Version::of(&[build.try_into().ok()?])))
            }
            "linux" => text(FactName::KernelRelease),
            _ => text(FactName::OsName),
        };
        Host { os: os.to_owned(), version }
    }

    /// Whether its system is known to be older than that version.
    pub fn is_before(&self, version: &Version) -> bool {
        self.version.as_ref().is_some_and(|own| own < version)
    }

    /// What it lacks for the newest versions of that runtime: the oldest that it is too old for.
    pub fn lacks(&self, family: &str) -> Option<&'static Needs> {
        let version = self.version.as_ref()?;
        let is_too_old = |one: &&Needs| one.family == family && one.system == self.os && *version < one.least;
        known::needs().iter().filter(is_too_old).min_by(|one, other| one.from.cmp(&other.from))
    }

    /// What it lacks for that version of a runtime.
    pub fn lacks_for(&self, family: &str, version: &Version) -> Option<&'static Needs> {
        self.lacks(family).filter(|needs| needs.is_about(version))
    }

    /// Whether some version that the record is about runs there.
    pub fn runs(&self, record: &Record) -> bool {
        self.lacks(record.family()).is_none_or(|needs| match (&needs.from, &record.from) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(before), Some(from)) => from < before,
        })
    }
}
