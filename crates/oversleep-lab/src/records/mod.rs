//! How runtimes translate a span. These are records; no runtime is run. `runtimes.toml` has records from sources,
//! `runtimes-measured.toml` those that `oversleep report RESULT --records` derived from a result; a result's own records
//! take precedence over both.

mod modelled;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use oversleep_explain::runtimes::rule::Rule;
use oversleep_explain::runtimes::{RuntimeWait, waits};
use oversleep_measure::find_wait;
use oversleep_model::Source;
use oversleep_record::{Nanos, ResultFile};
use oversleep_system::{Granularity, Platform, Wait};
use serde::{Deserialize, Serialize};

pub use modelled::families;
pub(crate) use modelled::probes;

const MILLISECOND: Nanos = Nanos::from_millis(1);

static FILES: LazyLock<File> = LazyLock::new(|| {
    let read = |text: &str| toml::from_str::<File>(text).expect("the files of records are well-formed");
    let mut all = read(include_str!("../../runtimes.toml"));
    all.record.extend(read(include_str!("../../runtimes-measured.toml")).record);
    all
});

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    record: Vec<Record>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    trick: Vec<Trick>,
}

/// A published trick for making waits of a runtime finer on Windows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trick {
    /// `sleeping-thread`.
    name: String,
    /// The runtime, as `oversleep runtimes` names it.
    family: String,
    /// The wait for which it was published.
    wait: String,
    /// Whether the process then holds a timer resolution of 1 ms.
    holds_a_millisecond: bool,
    /// Id of its source.
    source: String,
}

/// How one runtime translates a span on one system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// `R04`; for a measured one the runtime, its version and its wait.
    pub id: String,
    /// The names that programmers use.
    pub names: Vec<String>,
    /// The runtime.
    pub runtime: String,
    /// The runtime's name in `oversleep runtimes`, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The versions that the record is about.
    pub versions: String,
    /// `windows`, `linux`, `macos`.
    pub system: String,
    /// Registry name of the wait that it uses.
    pub wait: String,
    rounds: Rounds,
    /// Whether it requests 1 ms of Windows while it waits, unless the request is a multiple of 10 ms.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    holds_a_millisecond: bool,
    /// How it is known.
    pub evidence: Evidence,
    /// Id of its source, or the name of the result.
    pub source: String,
}

/// How a runtime rounds a span before it calls the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Rounds {
    /// It passes nanoseconds through.
    Not,
    /// To whole milliseconds.
    Up,
    /// To whole milliseconds, at least one.
    Down,
    /// Down to whole milliseconds, possibly to zero.
    DownToZero,
    /// To the nearest whole millisecond.
    Nearest,
    /// Up to whole milliseconds on its own grid, so that up to one more passes.
    UpToGrid,
}

impl From<Rule> for Rounds {
    fn from(rule: Rule) -> Rounds {
        match rule {
            Rule::Exact => Rounds::Not,
            Rule::Truncates => Rounds::DownToZero,
            Rule::TruncatesToAtLeastOne => Rounds::Down,
            Rule::RoundsUp => Rounds::Up,
            Rule::RoundsToNearest => Rounds::Nearest,
            Rule::RoundsUpToGrid => Rounds::UpToGrid,
        }
    }
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
    fn as_str(self) -> &'static str {
        match self {
            Evidence::Published => "published",
            Evidence::Measured => "measured",
        }
    }
}

/// All built-in records.
pub fn runtimes() -> &'static [Record] {
    &FILES.record
}

/// The systems for which a record translates that call.
pub fn systems(name: &str) -> Vec<&'static str> {
    let is_named = |record: &&Record| record.names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let systems: BTreeSet<&str> = FILES.record.iter().filter(is_named).map(|record| &*record.system).collect();
    systems.into_iter().collect()
}

/// The records of a result: one for each wait whose rule is known.
pub fn records(file: &ResultFile) -> Vec<Record> {
    let waits = waits(file);
    waits.iter().filter_map(|wait| record(file, &waits, wait)).collect()
}

/// Records as a file of them.
///
/// # Errors
/// The errors of the TOML writer.
pub fn document(records: Vec<Record>) -> Result<String, toml::ser::Error> {
    toml::to_string(&File { record: records, trick: Vec::new() })
}

fn record(file: &ResultFile, all: &[RuntimeWait<'_>], wait: &RuntimeWait<'_>) -> Option<Record> {
    // A question is about an idle program, and a busy one may use another call than the one beneath.
    if wait.idle_name().is_some() {
        return None;
    }
    let rule = wait.ruling().ok()?.rule;
    // `Thread.sleep(ms,ns)` also answers to `Thread.sleep`, unless another form of it preserves more of a request.
    let plain = |name: &str| name.split('(').next().unwrap_or_default().to_owned();
    let is_form = |other: &&RuntimeWait<'_>| {
        other.runtime == wait.runtime && other.idle_name().is_none() && plain(other.name) == plain(wait.name)
    };
    let forms = all.iter().filter(is_form);
    let keeps = |rule: Rule| [Rule::Exact, Rule::RoundsUp, Rule::RoundsToNearest].iter().position(|one| *one == rule);
    let keeps_most =
        forms.filter_map(|form| Some((keeps(form.ruling().ok()?.rule).unwrap_or(usize::MAX), form.name))).min();
    // `Sleep` alone could be a system call, so it is `free-pascal.Sleep`.
    let qualified = |name: String| match name.contains(['.', ':']) {
        true => name,
        false => format!("{}.{name}", wait.runtime.name),
    };
    let mut names = vec![qualified(wait.name.to_owned())];
    if plain(wait.name) != wait.name && keeps_most.is_some_and(|(_, name)| name == wait.name) {
        names.insert(0, qualified(plain(wait.name)));
    }
    Some(Record {
        id: format!("{}-{}/{}", wait.runtime.name, wait.runtime.version, wait.name),
        names,
        runtime: wait.runtime.name.clone(),
        family: None,
        versions: wait.runtime.version.clone(),
        system: file.platform.os.clone(),
        wait: wait.beneath.clone()?,
        rounds: rule.into(),
        holds_a_millisecond: false,
        evidence: Evidence::Measured,
        source: file.name.clone().unwrap_or_else(|| "a result without a name".to_owned()),
    })
}

/// The record of that call on that platform, and the wait. A result's own records, `first`, take precedence over the
/// built-in ones. If names differ only in case and none matches exactly, the first is meant.
pub(crate) fn find<'a>(
    platform: &'a dyn Platform,
    first: &[Record],
    name: &str,
) -> Option<(Record, &'a dyn Wait, Vec<Record>)> {
    let os = platform.id().os;
    let named = |fits: &dyn Fn(&str) -> bool| -> Vec<Record> {
        let all = first.iter().chain(FILES.record.iter());
        all.filter(|record| record.system == os && record.names.iter().any(|known| fits(known))).cloned().collect()
    };
    let mut found = named(&|known| known == name);
    if found.is_empty() {
        found = named(&|known| known.eq_ignore_ascii_case(name));
    }
    let record = found.first()?.clone();
    found.retain(|other| other.rounds != record.rounds);
    Some((record.clone(), find_wait(platform, &record.wait)?, found))
}

impl Record {
    /// Its runtime's name in `oversleep runtimes`.
    pub fn family(&self) -> &str {
        self.family.as_deref().unwrap_or(&self.runtime)
    }

    /// What is passed to the call.
    pub(crate) fn rounded(&self, request: Nanos) -> Nanos {
        match self.rounds {
            Rounds::Not => Granularity::NANOSECOND.rounded(request),
            Rounds::Up | Rounds::UpToGrid => Granularity::MILLISECOND.rounded(request),
            Rounds::Down => Granularity::MILLISECOND_DOWN.rounded(request),
            Rounds::DownToZero => Rule::Truncates.rounded(request),
            Rounds::Nearest => Rule::RoundsToNearest.rounded(request),
        }
    }

    /// Whether it holds 1 ms on Windows during a wait of that length.
    pub(crate) fn holds_while(&self, rounded: Nanos) -> bool {
        self.holds_a_millisecond && rounded.0 % (10 * MILLISECOND.0) != 0
    }

    /// Its rounding, as a clause after the call.
    fn how(&self) -> &'static str {
        match self.rounds {
            Rounds::Not => "",
            Rounds::Up => ", rounded up to whole milliseconds",
            Rounds::Down => ", rounded down to whole milliseconds, at least one",
            Rounds::DownToZero => ", rounded down to whole milliseconds",
            Rounds::Nearest => ", rounded to the nearest millisecond",
            Rounds::UpToGrid => ", rounded up to whole milliseconds, and waits up to one more",
        }
    }

    /// How it is known.
    fn citation(&self) -> String {
        let source = Source::find(&self.source).map_or_else(|| self.source.clone(), Source::citation);
        format!("record {}, {}: {source}; {}", self.id, self.evidence.as_str(), self.versions)
    }

    /// The sentence about the request: its translation, the evidence, the translations of `others` with that name, and
    /// the call that was run instead.
    pub(crate) fn sentence(&self, name: &str, wait: &dyn Wait, request: Nanos, others: &[Record]) -> String {
        let rounded = self.rounded(request);
        let what = if rounded == request { String::new() } else { format!(": {request} becomes {rounded}") };
        let (runtime, call, how) = (&self.runtime, wait.info().call, self.how());
        let other = |other: &Record| {
            let Record { id, runtime, versions, .. } = other;
            format!(" {runtime} {versions} passes {} (record {id}).", other.rounded(request))
        };
        let mut told: Vec<String> = Vec::new();
        for sentence in others.iter().map(other) {
            if !told.contains(&sentence) {
                told.push(sentence);
            }
        }
        let others = told.concat();
        format!(
            "{name} of {runtime} calls {call}{how}{what} ({}).{others} The runtime was not run: the figures are those of \
             {call}; ",
            self.citation()
        )
    }

    /// Why there is no answer for a request that is rounded to zero.
    pub(crate) fn nothing_left(&self, request: Nanos) -> String {
        format!("{} makes 0 ms of {request} and does not wait ({})", self.runtime, self.citation())
    }
}

#[cfg(test)]
mod tests;
