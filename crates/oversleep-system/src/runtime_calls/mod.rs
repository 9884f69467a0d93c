//! What the calls of language runtimes and libraries become on each system: one table for everything that speaks of them.
//!
//! A record says for one call, some versions and one system which wait of the system it makes, how it rounds the request
//! before, and what it holds meanwhile. `runtime-calls/*.toml` has records from sources; `measured.toml` has those that
//! `oversleep report RESULT --records` derived from a result.

mod clocks;
mod find;
mod host;
mod known;
mod limits;
mod passes;
mod rule;
mod version;
mod wait;
mod ways;

use oversleep_record::{Nanos, words};
use serde::{Deserialize, Serialize};

use crate::{Clock, Platform};

pub use clocks::{RuntimeClock, clock_names, clock_systems, clocks, clocks_of, find_clocks};
pub use find::{asides, behind, find, holding, native, systems, version_named, versions, versions_together};
pub use host::{Host, Needs};
pub use known::{
    Alias, Beginning, Call, Edge, Thread, Trick, aliases, all, beginning, call, can_call_library, count, document,
    edge, families, is_at_fixed_rate, is_method, is_package, names, namesake, pace, read, takes_no_span, tricks,
};
pub use limits::{Counts, Limit, Wraps};
pub use passes::Passes;
pub use rule::Rule;
pub use version::{Version, VersionError};
pub use wait::{CallWait, wait};
pub use ways::{Aside, Holding, Native};

/// The resolution that a runtime requests of Windows.
pub const HELD: Nanos = Nanos::from_millis(1);

/// What it requests to save power.
const HELD_ON_BATTERY: Nanos = Nanos::from_millis(8);

/// How one runtime translates a span on one system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// `R04`; for a measured one the runtime, its version and its wait.
    pub id: String,
    /// The names that programmers use, the fullest first.
    pub names: Vec<String>,
    /// The runtime.
    pub runtime: String,
    /// The runtime's name in `oversleep runtimes`, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The first version that it is about. A measured one is about this version alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Version>,
    /// The first version that it is no longer about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Version>,
    /// The versions in words.
    pub versions: String,
    /// `windows`, `linux`, `macos`.
    pub system: String,
    /// Registry name of the wait that it uses.
    pub wait: String,
    /// What it uses on a machine that doesn't have that wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Otherwise>,
    /// How it rounds before it calls.
    pub rounds: Rule,
    /// What it requests of Windows' timer resolution, and when.
    #[serde(default, skip_serializing_if = "Holds::is_nothing")]
    pub holds: Holds,
    /// The shortest span that it takes, and what happens to a shorter one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortest: Option<Limit>,
    /// The longest span that it takes, and what happens to a longer one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<Limit>,
    /// The shortest span that it waits, in ms.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub least_ms: i64,
    /// The grid in ms to which its end is put off.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub grid_ms: i64,
    /// The grid in ms of spans that are not shorter than `grid_ms`, if that is another one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub long_grid_ms: i64,
    /// The clock that decides whether its time is up, if that is not what ends its wait: it waits again until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_by: Option<String>,
    /// When it is due by that clock.
    #[serde(default, skip_serializing_if = "Counts::is_rounded")]
    pub counts: Counts,
    /// What decides instead on older systems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_older: Option<OnOlder>,
    /// What decides instead where that clock, a counter, is slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_slow_counter: Option<SlowCounter>,
    /// The clock by which its programs measure, if that moves in steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_clock: Option<OwnClock>,
    /// Which calls of a program of Linux stand for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_linux: Option<OnLinux>,
    /// What else a reader must know, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// How it is known.
    pub evidence: Evidence,
    /// Id of its source, or the name of the result.
    pub source: String,
}

fn is_zero(ms: &i64) -> bool {
    *ms == 0
}

/// What a call uses where its first wait is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Otherwise {
    /// Registry name of the wait.
    pub wait: String,
    /// How it rounds before that.
    pub rounds: Rule,
    /// The clock that then decides whether its time is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_by: Option<String>,
    /// The longest span that it then takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<Limit>,
}

/// What decides whether a call's time is up on older systems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnOlder {
    /// The oldest version of the system on which it does not, as a machine states it: the build of Windows.
    pub before: Version,
    /// The clock that decides there.
    pub due_by: String,
}

/// What decides whether a call's time is up where a counter is slow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowCounter {
    /// It counts less often in a second.
    pub below_hz: u64,
    /// The clock that decides then.
    pub due_by: String,
}

/// The clock by which programs of a runtime measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnClock {
    /// As the programs name it.
    pub name: String,
    /// Registry name of the system's clock that it is.
    pub clock: String,
}

/// When a call holds a timer resolution on Windows, of 1 ms unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// It holds nothing.
    #[default]
    Nothing,
    /// While it waits, unless the span is a multiple of 10 ms.
    UnlessTens,
    /// Always, because its library holds it from its start to its end.
    Always,
    /// While it waits for less than 60 ms.
    Short,
    /// The same, on a system without high-resolution timers.
    ShortWithoutHighResolution,
    /// While it waits for less than 32 ms.
    #[serde(rename = "below-32")]
    Below32,
    /// The same, but 8 ms, to save power.
    #[serde(rename = "below-32-by-8")]
    Below32By8,
}

impl Holds {
    fn is_nothing(&self) -> bool {
        *self == Holds::Nothing
    }
}

/// Registry name of the wait of Windows that needs no finer resolution.
const HIGH_RESOLUTION: &str = "waitable-timer-high-resolution";

/// Which calls of a program of Linux stand for a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnLinux {
    /// The class of Linux's call, as `oversleep emulate` names it.
    pub class: String,
    /// Whether only calls of the program's own file do, so not those of libraries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_code: bool,
    /// Only calls from within such code do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller>,
    /// Whether the Linux build has rounded the request already when it makes that call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rounded: bool,
}

/// Code from within which a call is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caller {
    /// How the name of its library's file begins.
    pub library: String,
    /// The exported function that it is within, however deep; without one, the library's code made the call itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

/// How a record is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The source says so.
    Published,
    /// It was measured on such a runtime.
    Measured,
}

impl Evidence {
    /// As in a sentence.
    pub fn as_str(self) -> &'static str {
        match self {
            Evidence::Published => "published",
            Evidence::Measured => "measured",
        }
    }
}

impl Record {
    /// Its runtime's name in `oversleep runtimes`.
    pub fn family(&self) -> &str {
        self.family.as_deref().unwrap_or(&self.runtime)
    }

    /// Its runtime and versions, each once: `OpenJDK 8 to 20`, `CPython 3.9`.
    pub fn version_words(&self) -> String {
        words::with_versions(&self.runtime, &self.versions)
    }

    /// What the thread does in the call.
    pub fn thread(&self) -> Thread {
        self.names.iter().find_map(|name| call(name)).map_or(Thread::default(), |call| call.thread)
    }

    /// Whether programs can call it.
    pub fn is_public(&self) -> bool {
        !self.names.iter().filter_map(|name| call(name)).any(|call| call.internal)
    }

    /// Its name among waits: `Thread.sleep@java-14-to-20`, `Thread.sleep@java-21-and-later`.
    pub fn wait_name(&self) -> String {
        format!("{}@{}", self.names[0], self.of_versions())
    }

    /// Whether both are about one call, perhaps by different names of it.
    pub fn is_same_call(&self, other: &Record) -> bool {
        self.family() == other.family() && self.names.iter().any(|name| other.names.contains(name))
    }

    /// Its runtime and the versions that it is about: `java-14-to-20`, `python-3.9`.
    fn of_versions(&self) -> String {
        let Some(from) = &self.from else { return self.family().to_owned() };
        let versions = match (self.evidence, &self.before) {
            (Evidence::Measured, _) => from.to_string(),
            (Evidence::Published, None) => format!("{from}-and-later"),
            (Evidence::Published, Some(before)) => match before.preceding() {
                Some(last) if last == *from => from.to_string(),
                Some(last) => format!("{from}-to-{last}"),
                None => format!("{from}-to-before-{before}"),
            },
        };
        format!("{}-{versions}", self.family())
    }

    /// The longest span that it takes, on a machine without its first wait or on others: its own, or that of all calls of
    /// its name.
    fn longest_of(&self, is_otherwise: bool) -> Option<&Limit> {
        let otherwise = self.otherwise.as_ref().filter(|_| is_otherwise).and_then(|other| other.longest.as_ref());
        let of_all = || self.names.iter().find_map(|name| edge(name)?.longest.as_ref());
        otherwise.or(self.longest.as_ref()).or_else(of_all)
    }

    /// How it refuses that request, if it does, on a machine without its first wait or on others.
    pub fn refuses(&self, requested: Nanos, is_otherwise: bool) -> Option<&str> {
        let too_short = self.shortest.as_ref().filter(|limit| requested < Nanos::from_millis(limit.ms));
        let longest = self.longest_of(is_otherwise);
        let too_long = longest.filter(|limit| requested >= Nanos::from_millis(limit.ms + 1));
        too_short.or(too_long)?.refused.as_deref()
    }

    /// Whether it is about that version.
    pub fn covers(&self, version: &Version) -> bool {
        let Some(from) = &self.from else { return false };
        let version = &version.counted(self.family());
        if namesake(self.family(), version).is_some() {
            return false;
        }
        match self.evidence {
            Evidence::Measured => version.is_start_of(from),
            Evidence::Published => {
                (version >= from || version.is_start_of(from))
                    && self.before.as_ref().is_none_or(|before| version < before)
            }
        }
    }

    /// Whether some version is one that both are about.
    pub fn overlaps(&self, other: &Record) -> bool {
        let (Some(one), Some(two)) = (&self.from, &other.from) else { return false };
        self.covers(two) || other.covers(one)
    }

    /// The clock that decides on that platform whether its time is up, if that is not what ends its wait. Where its
    /// first wait is missing, it may be another one.
    pub fn due_by<'a>(&self, platform: &'a dyn Platform, is_otherwise: bool) -> Option<&'a dyn Clock> {
        let hz = |clock: &str| platform.clock(clock)?.stated_frequency_hz();
        platform.clock(self.due_clock(is_otherwise, &Host::of(platform), hz)?)
    }

    /// Registry name of that clock, on a machine whose counters have that frequency.
    pub fn due_clock(&self, is_otherwise: bool, host: &Host, hz: impl Fn(&str) -> Option<u64>) -> Option<&str> {
        let other = self.otherwise.as_ref().filter(|_| is_otherwise).and_then(|other| other.due_by.as_deref());
        let usual = other.or(self.due_by.as_deref())?;
        let is_slow = |slow: &&SlowCounter| hz(usual).is_some_and(|hz| hz < slow.below_hz);
        let older = self.on_older.as_ref().filter(|older| host.is_before(&older.before)).map(|older| &*older.due_by);
        Some(older.or(self.with_slow_counter.as_ref().filter(is_slow).map(|slow| &*slow.due_by)).unwrap_or(usual))
    }

    /// What it passes on, on a machine that has those waits.
    pub fn passes(&self, has: impl Fn(&str) -> bool) -> Passes<'_> {
        let is_otherwise = self.otherwise.is_some() && !has(&self.wait);
        let (wait, rounds) = match &self.otherwise {
            Some(otherwise) if is_otherwise => (&otherwise.wait, otherwise.rounds),
            _ => (&self.wait, self.rounds),
        };
        let holds = match self.holds {
            Holds::ShortWithoutHighResolution if has(HIGH_RESOLUTION) => Holds::Nothing,
            holds => holds,
        };
        let [least, grid, long_grid] = [self.least_ms, self.grid_ms, self.long_grid_ms].map(Nanos::from_millis);
        let beyond = self.longest_of(is_otherwise).and_then(Limit::beyond);
        Passes { wait, rounds, beyond, least, grid, long_grid, holds, again: None, rest: rounds }
    }
}

#[cfg(test)]
mod tests;
