//! All waits of a run, by group, with the worst ones in full.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::findings::{self, Finding};
use crate::group::{Group, Key};
use crate::machine::Machine;
use crate::recording::Meta;
use crate::wait::{Outcome, Request, Wait};

/// Groups kept; requests that differ more are put together.
const GROUPS_MAX: usize = 256;
/// Waits shown in full.
pub const WORST: usize = 10;

/// What was lost between the kernel and the state machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Events that the buffer had no room for.
    pub no_room: u64,
    /// Events that were sent and did not arrive.
    pub vanished: u64,
    /// Times that the kernel left the program out.
    pub not_run: u64,
    /// Threads that were too many to follow.
    pub threads_not_followed: u64,
    /// Waits whose end was not seen.
    pub unfinished: u64,
    /// What this kernel can't show.
    #[serde(default)]
    pub missing: Vec<String>,
    /// The recording ended in the middle of an event.
    #[serde(default)]
    pub is_truncated: bool,
}

/// All waits of a run. It is the result file, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// `oversleep-why`: what kind of file this is.
    pub kind: String,
    /// The version of its form.
    pub version: u32,
    /// Where the events are from.
    pub meta: Meta,
    /// What the program meant, where the user stated that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub want_ns: Option<u64>,
    /// From the first event to the last.
    pub span_ns: u64,
    /// Waits that were left out by a selection.
    #[serde(default)]
    pub left_out: u64,
    /// The groups, the most lateness first.
    pub groups: Vec<Group>,
    /// The waits with the most lateness.
    pub worst: Vec<Wait>,
    /// What was lost.
    pub losses: Losses,
    /// What they show, and what helps.
    pub findings: Vec<Finding>,
}

/// The word that its files begin with.
pub const KIND: &str = "oversleep-why";
/// The version of its form.
pub const VERSION: u32 = 1;

/// Collects waits.
#[derive(Clone, Debug)]
pub struct Builder {
    groups: BTreeMap<Key, Group>,
    worst: Vec<Wait>,
    first: Option<u64>,
    last: u64,
    left_out: u64,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

impl Builder {
    /// Nothing yet.
    pub fn new() -> Builder {
        Builder { groups: BTreeMap::new(), worst: Vec::new(), first: None, last: 0, left_out: 0 }
    }

    /// Takes note of the time of an event.
    pub fn saw(&mut self, t: u64) {
        self.first = Some(self.first.map_or(t, |first| first.min(t)));
        self.last = self.last.max(t);
    }

    /// A wait that the user didn't select.
    pub fn leave_out(&mut self) {
        self.left_out += 1;
    }

    /// Adds a wait of that program.
    pub fn add(&mut self, wait: &Wait, program: &str) {
        let mut key = Key::of(wait, program);
        if self.groups.len() >= GROUPS_MAX && !self.groups.contains_key(&key) {
            key.requested_ns = None;
            if !self.groups.contains_key(&key) && self.groups.len() >= 2 * GROUPS_MAX {
                key = Key {
                    program: "others".to_owned(),
                    thread: String::new(),
                    call: "any".to_owned(),
                    timer: None,
                    request: Request::Unknown,
                    requested_ns: None,
                };
            }
        }
        self.groups.entry(key.clone()).or_insert_with(|| Group::new(key, wait.tgid)).add(wait);
        if wait.outcome == Outcome::Timer {
            let at = self.worst.partition_point(|worse| worse.lateness_ns >= wait.lateness_ns);
            if at < WORST {
                self.worst.insert(at, wait.clone());
                self.worst.truncate(WORST);
            }
        }
    }

    /// Groups so far, the most lateness first.
    pub fn groups(&self) -> Vec<&Group> {
        let mut groups: Vec<&Group> = self.groups.values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(lateness_total(group)));
        groups
    }

    /// The result.
    pub fn finish(self, meta: Meta, want_ns: Option<u64>, mut losses: Losses, machine: &Machine) -> Summary {
        losses.unfinished = machine.counts().unfinished;
        losses.no_room = losses.no_room.max(machine.counts().lost);
        let mut groups: Vec<Group> = self.groups.into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(lateness_total(group)));
        let mut summary = Summary {
            kind: KIND.to_owned(),
            version: VERSION,
            meta,
            want_ns,
            span_ns: self.last.saturating_sub(self.first.unwrap_or(self.last)),
            left_out: self.left_out,
            groups,
            worst: self.worst,
            losses,
            findings: Vec::new(),
        };
        summary.findings = findings::of(&summary);
        summary
    }
}

fn lateness_total(group: &Group) -> (i64, u64) {
    (group.total_ns.values().fold(0, |sum: i64, &ns| sum.saturating_add(ns)), group.otherwise_count())
}

impl Summary {
    /// Waits that ended by their timer.
    pub fn count(&self) -> u64 {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// Of these, waits of which every nanosecond has a name.
    pub fn attributed_count(&self) -> u64 {
        self.groups.iter().map(|group| group.attributed_count).sum()
    }

    /// Waits that ended for another reason.
    pub fn otherwise_count(&self) -> u64 {
        self.groups.iter().map(Group::otherwise_count).sum()
    }

    /// Reads a result file.
    ///
    /// # Errors
    /// If it is none, or of a later version.
    pub fn read(text: &[u8]) -> Result<Summary, String> {
        let summary: Summary = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if summary.kind != KIND || summary.version > VERSION {
            return Err(format!("it is `{}` of version {}, and this oversleep reads {KIND} up to {VERSION}", summary.kind, summary.version));
        }
        Ok(summary)
    }
}
