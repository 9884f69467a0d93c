//! What runtimes make of a span, as sources say: records, not runs. The file of records is `runtimes.toml`.

use std::sync::LazyLock;

use oversleep_measure::find_wait;
use oversleep_record::Nanos;
use oversleep_system::{Granularity, Platform, Wait};
use serde::Deserialize;

use crate::machines::Source;

const MILLISECOND: Nanos = Nanos::from_millis(1);

static RECORDS: LazyLock<Vec<Record>> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("../../runtimes.toml")).expect("the file of runtimes is well-formed");
    file.record
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    record: Vec<Record>,
}

/// What one runtime makes of a span on one system.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// `R04`.
    pub id: String,
    /// What programmers write.
    pub names: Vec<String>,
    /// Whose call it is.
    pub runtime: String,
    /// The versions that the record is about.
    pub versions: String,
    /// `windows`, `linux`, `macos`.
    pub system: String,
    /// Registry name of the wait that it ends up in.
    pub wait: String,
    rounds: Rounds,
    /// Whether it requests 1 ms of Windows while it waits, unless the request is a multiple of 10 ms.
    #[serde(default)]
    holds_a_millisecond: bool,
    /// How it is known.
    pub evidence: Evidence,
    /// Id of its source.
    pub source: String,
}

/// What a runtime does to a span before it calls the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Rounds {
    Not,
    Up,
    Down,
}

/// How a record is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The source says so.
    Published,
    /// It was seen on such a runtime.
    Measured,
}

impl Evidence {
    fn as_str(self) -> &'static str {
        match self {
            Evidence::Published => "published",
            Evidence::Measured => "measured",
        }
    }
}

/// All records.
pub fn runtimes() -> &'static [Record] {
    &RECORDS
}

/// The record of that call on that platform, and the wait. Where names differ only in case and the typed case fits none,
/// the first is meant.
pub(super) fn find<'a>(platform: &'a dyn Platform, name: &str) -> Option<(&'static Record, &'a dyn Wait)> {
    let os = platform.id().os;
    let named = |fits: &dyn Fn(&str) -> bool| {
        RECORDS.iter().find(|record| record.system == os && record.names.iter().any(|known| fits(known)))
    };
    let record = named(&|known| known == name).or_else(|| named(&|known| known.eq_ignore_ascii_case(name)))?;
    Some((record, find_wait(platform, &record.wait)?))
}

impl Record {
    /// What is passed to the call.
    pub(super) fn rounded(&self, request: Nanos) -> Nanos {
        let granularity = match self.rounds {
            Rounds::Not => Granularity::NANOSECOND,
            Rounds::Up => Granularity::MILLISECOND,
            Rounds::Down => Granularity::MILLISECOND_DOWN,
        };
        granularity.rounded(request)
    }

    /// Whether it holds 1 ms of Windows while it waits so long.
    pub(super) fn holds_while(&self, rounded: Nanos) -> bool {
        self.holds_a_millisecond && rounded.0 % (10 * MILLISECOND.0) != 0
    }

    /// What the runtime makes of the request, how that is known, and what was run instead of it.
    pub(super) fn sentence(&self, name: &str, wait: &dyn Wait, request: Nanos) -> String {
        let how = match self.rounds {
            Rounds::Not => "",
            Rounds::Up => ", rounded up to whole milliseconds",
            Rounds::Down => ", rounded down to whole milliseconds, at least one",
        };
        let rounded = self.rounded(request);
        let what = if rounded == request { String::new() } else { format!(": {request} becomes {rounded}") };
        let source = Source::find(&self.source).map_or_else(|| self.source.clone(), Source::citation);
        let Record { id, runtime, versions, .. } = self;
        let (evidence, call) = (self.evidence.as_str(), wait.info().call);
        format!(
            "{name} of {runtime} calls {call}{how}{what} (record {id}, {evidence}: {source}; {versions}). The runtime was not \
             run: the figures are those of {call}; "
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use oversleep_model::platform;

    #[test]
    fn every_record_has_an_id_a_source_and_a_wait_that_exists() {
        let mut seen = BTreeSet::new();
        for record in runtimes() {
            assert!(seen.insert(&record.id), "{} twice", record.id);
            assert!(Source::find(&record.source).is_some(), "{}: {}", record.id, record.source);
            assert!(!record.versions.is_empty() && !record.names.is_empty(), "{}", record.id);
            let machine = match record.system.as_str() {
                "windows" => "windows-11",
                "linux" => "linux-hz250",
                _ => "macos-14-m1",
            };
            let platform = platform(machine, &[], 1).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(platform.id().os, record.system, "{}", record.id);
            assert!(find_wait(&*platform, &record.wait).is_some(), "{}: {}", record.id, record.wait);
            let again = runtimes().iter().filter(|one| one.system == record.system && one.names == record.names);
            assert_eq!(again.count(), 1, "{}: one record for a call and a system", record.id);
        }
    }

    #[test]
    fn a_sentence_names_the_record_and_says_that_nothing_of_the_runtime_ran() {
        let platform = platform("windows-11", &[], 1).unwrap_or_else(|error| panic!("{error}"));
        let (record, wait) = find(&*platform, "parkNanos").expect("it is listed");
        let sentence = record.sentence("parkNanos", wait, Nanos(1_999_000));
        assert!(sentence.contains("record R01, published: OpenJDK, os_windows.cpp"), "{sentence}");
        assert!(
            sentence.contains("The runtime was not run: the figures are those of WaitForSingleObject"),
            "{sentence}"
        );
    }

    #[test]
    fn what_was_measured_answers_like_what_was_published() {
        let platform = platform("linux-hz250", &[], 1).unwrap_or_else(|error| panic!("{error}"));
        let (record, wait) = find(&*platform, "asyncio.sleep").expect("it is listed");
        assert_eq!((record.evidence, wait.info().name), (Evidence::Measured, "epoll-wait"));
        assert_eq!(record.rounded(Nanos(300_000)), MILLISECOND);
        let sentence = record.sentence("asyncio.sleep", wait, Nanos(300_000));
        assert!(
            sentence.contains("300 µs becomes 1 ms (record M05, measured: oversleep, recorded streams"),
            "{sentence}"
        );
    }
}
