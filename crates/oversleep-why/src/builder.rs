//! From waits, one after another, to the summary of a run.

use std::collections::BTreeMap;

use oversleep_record::file::Tool;

use crate::findings;
use crate::group::{Group, Key};
use crate::machine::Machine;
use crate::recording::Meta;
use crate::summary::{Losses, SCHEMA, Summary, WORST};
use crate::wait::{Outcome, Request, Wait};

/// Groups kept; requests that differ more are put together.
pub(crate) const GROUPS_MAX: usize = 256;

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
            schema: SCHEMA.to_owned(),
            tool: Tool { name: "oversleep".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
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
