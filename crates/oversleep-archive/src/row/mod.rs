//! One row of an archive: a series with the machine it was measured on.

mod of_result;

use std::collections::BTreeMap;
use std::sync::Arc;

use oversleep_record::{Distribution, distribution};

pub use of_result::{Origin, rows_of};

/// The upper end of the bucket of values whose size isn't known.
pub const BEYOND: i64 = i64::MAX;

/// The facts that machines are grouped by. `None` is unknown, never "none".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// The system: `linux`, `windows`, `macos`.
    pub os: String,
    /// The system with its version as sold.
    pub os_version: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The processor's name as sold.
    pub cpu_model: Option<String>,
    /// CPUs that are online.
    pub cpus: Option<i32>,
    /// The hypervisor, or `none`.
    pub hypervisor: Option<String>,
    /// The kind of container, or `none`.
    pub container: Option<String>,
    /// The clock source.
    pub clocksource: Option<String>,
    /// When the kernel lets a woken thread interrupt it.
    pub preemption: Option<String>,
    /// Ticks per second.
    pub hz: Option<i32>,
    /// The C library with its version.
    pub libc: Option<String>,
    /// How the clock rate is chosen.
    pub governor: Option<String>,
}

/// One series of one result. [`Column`](crate::Column) has the meaning of each field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The machine, as a random text.
    pub source: String,
    /// A hash of the result.
    pub content: i64,
    /// When the run began, in µs since 1970-01-01 UTC.
    pub taken_us: i64,
    /// How long the run took.
    pub seconds: f64,
    /// The program that measured, with its version.
    pub tool: String,
    /// What machines are grouped by.
    pub machine: Machine,
    /// The other facts that may be shared. The rows of a result have them in common, so they are in memory once.
    pub facts: Arc<BTreeMap<String, String>>,
    /// The name that the user gave the result.
    pub name: Option<String>,
    /// The experiment's id.
    pub experiment: String,
    /// The wait, clock or hand-off.
    pub subject: String,
    /// The language runtime with its version.
    pub runtime: Option<String>,
    /// What each value is.
    pub quantity: String,
    /// The unit of the values.
    pub unit: String,
    /// What the program requested.
    pub request_ns: Option<i64>,
    /// What was requested of the machine; empty where nothing was changed.
    pub conditions: String,
    /// What else distinguishes the series.
    pub labels: BTreeMap<String, String>,
    /// The number of values, with those of unknown size.
    pub count: i64,
    /// Deadlines that had passed before the call.
    pub missed: i64,
    /// Values below zero.
    pub early: i64,
    /// The sum of all values of known size.
    pub sum: f64,
    /// The smallest value; `None` without values.
    pub min: Option<i64>,
    /// The largest value; `None` without values, or if it isn't known.
    pub max: Option<i64>,
    /// The share of all CPUs' time that the hypervisor gave to others meanwhile.
    pub steal_share: Option<f64>,
    /// Whether the median isn't the machine's own.
    pub disturbed: bool,
    /// The size that values of unknown size have at least.
    pub beyond_from: Option<i64>,
    /// The largest value of each bucket, ascending.
    pub hi: Vec<i64>,
    /// The number of values in each bucket.
    pub n: Vec<i64>,
}

impl Row {
    /// Takes over all values of a distribution: buckets, count, extremes and sum.
    pub fn set_values(&mut self, values: &Distribution) {
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let beyond = values.beyond();
        (self.hi, self.n) = values.buckets().map(|(hi, n)| (hi, count(n))).unzip();
        if let Some(beyond) = beyond {
            self.hi.push(BEYOND);
            self.n.push(count(beyond.count));
        }
        self.count = count(values.count().saturating_add(beyond.map_or(0, |beyond| beyond.count)));
        self.early = count(values.early_count());
        self.sum = values.sum() as f64;
        self.min = values.min();
        self.max = values.max();
        self.beyond_from = beyond.map(|beyond| beyond.from);
    }

    /// Cuts texts that are longer than so many bytes.
    pub fn cut_texts(&mut self, most: usize) {
        let is_long =
            |map: &BTreeMap<String, String>| map.iter().any(|(name, text)| name.len() > most || text.len() > most);
        let cut_map = |map: &BTreeMap<String, String>| {
            map.iter().map(|(name, text)| (cut(name, most).to_owned(), cut(text, most).to_owned())).collect()
        };
        if is_long(&self.facts) {
            self.facts = Arc::new(cut_map(&self.facts));
        }
        if is_long(&self.labels) {
            self.labels = cut_map(&self.labels);
        }
        let Machine {
            os,
            os_version,
            kernel,
            cpu_model,
            hypervisor,
            container,
            clocksource,
            preemption,
            libc,
            governor,
            ..
        } = &mut self.machine;
        let known = [os_version, kernel, cpu_model, hypervisor, container, clocksource, preemption, libc, governor];
        let known = known.into_iter().chain([&mut self.name, &mut self.runtime]).flatten();
        let own = [&mut self.source, &mut self.tool, os, &mut self.experiment, &mut self.subject];
        let own = own.into_iter().chain([&mut self.quantity, &mut self.unit, &mut self.conditions]);
        for text in known.chain(own) {
            text.truncate(cut(text, most).len());
        }
    }

    /// All values. Its sum is as exact as [`Row::sum`].
    pub fn values(&self) -> Distribution {
        let mut values = Distribution::growing();
        self.add_to(&mut values);
        values
    }

    /// Adds all values to a distribution. About 3 ns a bucket where that has its memory already.
    pub fn add_to(&self, values: &mut Distribution) {
        let counts = self.n.iter().map(|&n| n.max(0).unsigned_abs());
        let known = self.hi.iter().copied().zip(counts.clone()).filter(|&(hi, _)| hi != BEYOND);
        let has_beyond = self.hi.last() == Some(&BEYOND);
        let last = self.hi.iter().rev().find(|&&hi| hi != BEYOND).copied();
        // The largest value may be of unknown size, and then the end of the last bucket is the largest of known size.
        let max = if has_beyond { last } else { self.max };
        if let (Some(min), Some(max)) = (self.min, max) {
            values.add_buckets(known, min, max.max(min), self.sum as i128);
        }
        let beyond: u64 = self.hi.iter().zip(counts).filter(|&(&hi, _)| hi == BEYOND).map(|(_, n)| n).sum();
        if beyond > 0 {
            let from = self.beyond_from.or(last).unwrap_or(i64::MIN);
            values.add_beyond(distribution::Beyond { count: beyond, from, max: self.max });
        }
    }
}

/// The beginning of a text: whole characters of so many bytes.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or_default();
    &text[..end]
}
