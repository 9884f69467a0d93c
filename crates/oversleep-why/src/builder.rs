//! Builds the summary of a run from its waits.

use std::collections::BTreeMap;

use oversleep_record::file::Tool;

use crate::findings;
use crate::group::{Group, Key};
use crate::machine::{Machine, Map};
use crate::recording::Meta;
use crate::summary::{Losses, SCHEMA, Summary, WORST};
use crate::wait::{Outcome, Request, Wait};

/// The most groups that are kept. Beyond this, different requests share a group.
pub(crate) const GROUPS_MAX: usize = 256;

/// The most threads whose last group is remembered.
const THREADS_MAX: usize = 16_384;

/// Collects waits.
#[derive(Clone, Debug)]
pub struct Builder {
    groups: Vec<Group>,
    /// The index of each group in `groups`.
    places: BTreeMap<Key, usize>,
    /// The group of each thread's last wait, because its next wait usually belongs to the same one.
    last_of: Map<u32, usize>,
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
    /// An empty builder.
    pub fn new() -> Builder {
        Builder {
            groups: Vec::new(),
            places: BTreeMap::new(),
            last_of: Map::default(),
            worst: Vec::new(),
            first: None,
            last: 0,
            left_out: 0,
        }
    }

    /// Records the time of an event.
    pub fn saw(&mut self, t: u64) {
        self.first = Some(self.first.map_or(t, |first| first.min(t)));
        self.last = self.last.max(t);
    }

    /// Counts a wait that the user didn't select.
    pub fn leave_out(&mut self) {
        self.left_out += 1;
    }

    /// Adds a wait of that program.
    pub fn add(&mut self, wait: &Wait, program: &str) {
        let last = self.last_of.get(&wait.tid).copied();
        let last = last.filter(|&place| self.groups.get(place).is_some_and(|group| group.is_of(wait, program)));
        let place = last.unwrap_or_else(|| self.place(wait, program));
        if last.is_none() {
            if self.last_of.len() >= THREADS_MAX {
                self.last_of.clear();
            }
            self.last_of.insert(wait.tid, place);
        }
        self.groups[place].add(wait);
        if wait.outcome == Outcome::Timer {
            let at = self.worst.partition_point(|worse| worse.lateness_ns >= wait.lateness_ns);
            if at < WORST {
                self.worst.insert(at, wait.clone());
                self.worst.truncate(WORST);
            }
        }
    }

    /// The index of a wait's group, which is added if it is new.
    fn place(&mut self, wait: &Wait, program: &str) -> usize {
        let mut key = Key::of(wait, program);
        if self.groups.len() >= GROUPS_MAX && !self.places.contains_key(&key) {
            key.requested_ns = None;
            if !self.places.contains_key(&key) && self.groups.len() >= 2 * GROUPS_MAX {
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
        if let Some(&place) = self.places.get(&key) {
            return place;
        }
        self.places.insert(key.clone(), self.groups.len());
        self.groups.push(Group::new(key, wait.tgid));
        self.groups.len() - 1
    }

    /// How late a wait has to be to become one of the worst; `None` while there are few.
    pub fn worst_from(&self) -> Option<i64> {
        self.worst.get(WORST - 1).map(|wait| wait.lateness_ns)
    }

    /// The groups so far, in descending order of lateness.
    pub fn groups(&self) -> Vec<&Group> {
        let mut groups: Vec<&Group> = self.groups.iter().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(lateness_total(group)));
        groups
    }

    /// The result.
    pub fn finish(self, meta: Meta, want_ns: Option<u64>, mut losses: Losses, machine: &Machine) -> Summary {
        losses.unfinished = machine.counts().unfinished;
        losses.no_room = losses.no_room.max(machine.counts().lost);
        let mut worst = self.worst;
        worst.iter_mut().for_each(|wait| wait.stack = machine.symbols().stack(wait.tgid, &wait.frames));
        let mut groups = self.groups;
        // Equal lateness is ordered by key, so that every run prints the same order.
        groups.sort_by(|a, b| lateness_total(b).cmp(&lateness_total(a)).then_with(|| a.key.cmp(&b.key)));
        let mut summary = Summary {
            schema: SCHEMA.to_owned(),
            tool: Tool { name: "oversleep".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            meta,
            want_ns,
            span_ns: self.last.saturating_sub(self.first.unwrap_or(self.last)),
            left_out: self.left_out,
            groups,
            worst,
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
