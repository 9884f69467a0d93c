//! Compares runs, such as before and after a cure: which part of the lateness shrank, by group of waits.

pub mod words;

use oversleep_record::Distribution;
use oversleep_record::comparison::Interval;
use oversleep_record::file::Tool;
use oversleep_record::quantile_interval::of_quantile;
use serde::{Deserialize, Serialize};

use crate::by::By;
use crate::group::{Group, Key};
use crate::part::Part;
use crate::summary::Summary;

/// The schema of a comparison.
pub const SCHEMA: &str = "oversleep-why-comparison/1";

/// Runs compared with the first of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// `oversleep-why-comparison/1`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Who wrote it.
    pub tool: Tool,
    /// The base.
    pub base: Run,
    /// The others, each against the base.
    pub against_base: Vec<Against>,
}

/// One run, in brief.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// What was followed, in words; empty for every process.
    pub target: String,
    /// Who followed it.
    #[serde(default, skip_serializing_if = "By::is_kernel")]
    pub by: By,
    /// The kernel, as it calls itself.
    pub kernel: String,
    /// When it began, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_unix_s: Option<i64>,
    /// Waits that ended by their timer.
    pub count: u64,
}

/// One run against the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Against {
    /// The run.
    pub run: Run,
    /// Groups of waits that both have, the most lateness of the base first.
    pub groups: Vec<GroupChange>,
    /// Groups that only the base has.
    pub only_in_base: Vec<Key>,
    /// Groups that only this run has.
    pub only_here: Vec<Key>,
}

/// The same waits in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupChange {
    /// The group in the base.
    pub before: Key,
    /// The group here. Its call or request may differ, if the thread has no other group in either run.
    pub after: Key,
    /// Waits in the base.
    pub before_count: u64,
    /// Waits here.
    pub after_count: u64,
    /// The whole lateness.
    pub lateness: Change,
    /// Each part that either run has; the means add up to those of the lateness. Empty where different followers saw the
    /// runs, because their parts are not the same.
    pub parts: Vec<PartChange>,
}

/// How one part moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartChange {
    /// The part.
    pub part: Part,
    /// Its figures.
    pub change: Change,
}

/// Figures of both runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The median.
    pub p50: Moved,
    /// The 99th percentile, where ten values lie beyond it in both runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<Moved>,
    /// The largest of the base.
    pub before_max_ns: i64,
    /// The largest here.
    pub after_max_ns: i64,
    /// The mean of the base.
    pub before_mean_ns: f64,
    /// The mean here.
    pub after_mean_ns: f64,
}

/// One figure of both runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moved {
    /// In the base.
    pub before_ns: i64,
    /// Here.
    pub after_ns: i64,
    /// Whether they differ.
    pub verdict: Verdict,
}

/// Whether two figures differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is less here: the 99 % intervals lie apart.
    Shrank,
    /// It is more here: the 99 % intervals lie apart.
    Grew,
    /// The intervals overlap.
    Overlap,
    /// Too few waits for an interval.
    TooFew,
}

/// Compares runs with the first of them; `None` for fewer than two.
pub fn compare(runs: &[Summary]) -> Option<Comparison> {
    let (base, others) = runs.split_first().filter(|(_, others)| !others.is_empty())?;
    Some(Comparison {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "oversleep".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        base: run(base),
        against_base: others.iter().map(|other| against(base, other)).collect(),
    })
}

fn run(summary: &Summary) -> Run {
    Run {
        target: summary.meta.target.clone(),
        by: summary.meta.by,
        kernel: summary.meta.kernel.clone(),
        taken_unix_s: summary.meta.taken_unix_s,
        count: summary.count(),
    }
}

fn against(base: &Summary, other: &Summary) -> Against {
    let mut after: Vec<&Group> = timed(other);
    let (mut groups, mut left) = (Vec::new(), Vec::new());
    for before in timed(base) {
        match after.iter().position(|group| group.key == before.key) {
            Some(at) => groups.push(changed(before, after.remove(at))),
            None => left.push(before),
        }
    }
    // A cure may be another call or another request. It is the same wait if the thread has only one that is left over.
    let is_alone = |group: &Group, all: &[&Group]| all.iter().filter(|other| same_thread(group, other)).count() == 1;
    let mut only_in_base = Vec::new();
    for before in &left {
        let found = after.iter().position(|group| same_thread(before, group) && is_alone(group, &after));
        match found.filter(|_| is_alone(before, &left)) {
            Some(at) => groups.push(changed(before, after.remove(at))),
            None => only_in_base.push(before.key.clone()),
        }
    }
    if base.meta.by != other.meta.by {
        groups.iter_mut().for_each(|group: &mut GroupChange| group.parts.clear());
    }
    Against {
        run: run(other),
        groups,
        only_in_base,
        only_here: after.into_iter().map(|group| group.key.clone()).collect(),
    }
}

fn timed(summary: &Summary) -> Vec<&Group> {
    summary.groups.iter().filter(|group| group.count != 0).collect()
}

fn same_thread(one: &Group, other: &Group) -> bool {
    (&one.key.program, &one.key.thread) == (&other.key.program, &other.key.thread)
}

fn changed(before: &Group, after: &Group) -> GroupChange {
    let part = |&part: &Part| {
        let (one, two) = (before.parts.get(&part), after.parts.get(&part));
        (one.is_some() || two.is_some())
            .then(|| PartChange { part, change: change(&Values::of(one, before.count), &Values::of(two, after.count)) })
    };
    GroupChange {
        before: before.key.clone(),
        after: after.key.clone(),
        before_count: before.count,
        after_count: after.count,
        lateness: change(
            &Values::of(Some(&before.lateness), before.count),
            &Values::of(Some(&after.lateness), after.count),
        ),
        parts: Part::ALL.iter().filter_map(part).collect(),
    }
}

/// The values of a part; a missing part was 0 in every wait.
struct Values<'a> {
    seen: Option<&'a Distribution>,
    count: u64,
}

impl Values<'_> {
    fn of(seen: Option<&Distribution>, count: u64) -> Values<'_> {
        Values { seen, count }
    }

    fn quantile(&self, quantile: f64) -> i64 {
        self.seen.and_then(|seen| seen.quantile(quantile)).unwrap_or(0)
    }

    fn interval(&self, quantile: f64) -> Option<Interval> {
        match self.seen {
            Some(seen) => of_quantile(seen, quantile, 0),
            None => Some(Interval { low: 0, high: 0 }),
        }
    }

    fn mean(&self) -> f64 {
        self.seen.and_then(Distribution::mean).unwrap_or(0.0)
    }
}

fn change(before: &Values, after: &Values) -> Change {
    let is_seen = |values: &Values| values.count as f64 * 0.01 >= 10.0;
    Change {
        p50: moved(before, after, 0.5),
        p99: (is_seen(before) && is_seen(after)).then(|| moved(before, after, 0.99)),
        before_max_ns: before.quantile(1.0),
        after_max_ns: after.quantile(1.0),
        before_mean_ns: before.mean(),
        after_mean_ns: after.mean(),
    }
}

fn moved(before: &Values, after: &Values, quantile: f64) -> Moved {
    let verdict = match (before.interval(quantile), after.interval(quantile)) {
        (Some(one), Some(two)) if two.high < one.low => Verdict::Shrank,
        (Some(one), Some(two)) if one.high < two.low => Verdict::Grew,
        (Some(_), Some(_)) => Verdict::Overlap,
        _ => Verdict::TooFew,
    };
    Moved { before_ns: before.quantile(quantile), after_ns: after.quantile(quantile), verdict }
}

impl Change {
    /// The verdict on the median, or on the 99th percentile if the median didn't move.
    pub fn verdict(&self) -> Verdict {
        match (self.p50.verdict, self.p99) {
            (Verdict::Shrank | Verdict::Grew, _) | (_, None) => self.p50.verdict,
            (_, Some(p99)) => p99.verdict,
        }
    }
}

impl GroupChange {
    /// The part whose mean shrank most, and how much it shrank, if chance can't explain that.
    pub fn cured(&self) -> Option<(Part, f64)> {
        let shrank = self.parts.iter().filter(|part| part.change.verdict() == Verdict::Shrank);
        let by = |part: &PartChange| part.change.before_mean_ns - part.change.after_mean_ns;
        let most = shrank.max_by(|one, other| by(one).total_cmp(&by(other)))?;
        Some((most.part, by(most))).filter(|&(_, by)| by > 0.0)
    }
}
