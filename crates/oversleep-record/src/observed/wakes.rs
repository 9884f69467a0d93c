//! How often idle CPUs were woken and for whom, and how regularly threads woke up.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// The most rows of each kind.
pub const ROWS_MAX: usize = 64;

/// What a recording of every switch tells of wake-ups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wakes {
    /// For how long it was seen: from the first event to the last one, without the gaps.
    pub span_ns: Nanos,
    /// Wake-ups of idle CPUs by program and timer, the most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<IdleWakes>,
    /// Wake-ups of idle CPUs that are in none of these rows.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub idle_beyond: u64,
    /// Threads that woke up again and again at a nearly equal distance, those that did so most often first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rhythms: Vec<Rhythm>,
}

/// What woke a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WokenBy {
    /// A timer.
    Timer,
    /// Something else: another thread, a device.
    Other,
    /// The recording doesn't show it.
    Unseen,
}

/// Wake-ups of idle CPUs for one program by one kind of timer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleWakes {
    /// The program; empty for the kernel, whose timer woke no thread.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// One of its processes; 0 for the kernel.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub tgid: u32,
    /// What woke it.
    pub by: WokenBy,
    /// The function of the timer, where its name is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<String>,
    /// How often.
    pub count: u64,
}

/// The distances between the wake-ups of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rhythm {
    /// Its program.
    pub program: String,
    /// Its name.
    pub thread: String,
    /// Its id.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub tid: u32,
    /// How many distances.
    pub count: u64,
    /// A tenth of them are at most this.
    pub p10_ns: Nanos,
    /// Half of them are at most this: the period.
    pub p50_ns: Nanos,
    /// Nine tenths of them are at most this.
    pub p90_ns: Nanos,
}

impl Wakes {
    /// How often per second something came that often; `None` if no time was seen.
    pub fn per_second(&self, count: u64) -> Option<f64> {
        (self.span_ns.0 > 0).then(|| count as f64 * 1e9 / self.span_ns.0 as f64)
    }

    /// All wake-ups of idle CPUs.
    pub fn idle_count(&self) -> u64 {
        self.idle.iter().fold(self.idle_beyond, |sum, row| sum.saturating_add(row.count))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.idle.is_empty() && self.rhythms.is_empty()
    }
}

impl Rhythm {
    /// How much the middle four fifths of the distances differ.
    pub fn jitter(&self) -> Nanos {
        Nanos(self.p90_ns.0.saturating_sub(self.p10_ns.0))
    }
}
