//! Builds the result of a run from its waits.

use std::collections::{BTreeMap, BTreeSet};

use oversleep_record::Identity;
use oversleep_record::environment::{Environment, FactValue, Os, PlatformId};
use oversleep_record::observed::{Losses, Observation, WORST};
use oversleep_record::{CommandName, FactName, Nanos, ResultFile};

use crate::group::{Group, halved, identity};
use crate::machine::{Machine, Map};
use crate::periods::Loops;
use crate::recording::Meta;
use crate::wait::{Outcome, Request, Wait, signed};

/// The most groups that are kept. Beyond this, different requests share a group.
const GROUPS_MAX: usize = 256;

/// The most memory that groups take, roughly. When they take more, the groups with the least lateness share one.
const GROUPS_BYTES_MAX: usize = 8 << 20;
/// How often their memory is summed up, in waits: a group can't grow by much meanwhile.
const WAITS_PER_SUM: u32 = 4_096;

/// The most kinds whose place among all others is remembered.
const OTHERS_MAX: usize = 4_096;

/// The most threads whose last group is remembered.
const THREADS_MAX: usize = 16_384;

/// The most slices of the time. When there are more, each pair becomes one.
const SLICES_MAX: u64 = 20;
/// The length of a slice at first. A run of any length ends with 10 to 20 slices, unless it is shorter than a tenth of a
/// second.
const SLICE_NS: u64 = 10_000_000;

/// Collects waits.
#[derive(Clone, Debug)]
pub struct Builder {
    groups: Vec<Group>,
    /// The index of each group in `groups`.
    places: BTreeMap<Identity, usize>,
    /// The group of each thread's last wait, because its next wait usually belongs to the same one.
    last_of: Map<u32, usize>,
    /// Waits since the memory of the groups was summed up, and whether it was too much once: new requests then share a
    /// group from the beginning.
    since_sum: u32,
    is_full: bool,
    /// Kinds that became a part of the group of all others.
    among_others: BTreeSet<Identity>,
    groups_bytes_max: usize,
    loops: Option<Loops>,
    worst: Vec<Wait>,
    first: Option<u64>,
    last: u64,
    left_out: u64,
    /// Where the first slice of the time begins, and the length of each.
    origin: Option<u64>,
    slice_ns: u64,
    /// What the hypervisor took in each slice; `None` if the stream doesn't show it.
    steal: Option<Vec<u64>>,
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
            since_sum: 0,
            is_full: false,
            among_others: BTreeSet::new(),
            groups_bytes_max: GROUPS_BYTES_MAX,
            loops: Some(Loops::default()),
            worst: Vec::new(),
            first: None,
            last: 0,
            left_out: 0,
            origin: None,
            slice_ns: SLICE_NS,
            steal: None,
        }
    }

    /// Records the time of an event.
    pub fn saw(&mut self, t: u64) {
        self.first = Some(self.first.map_or(t, |first| first.min(t)));
        self.last = self.last.max(t);
    }

    /// Records that the hypervisor took so much of a CPU.
    pub fn stole(&mut self, t: u64, ns: u64) {
        let slice = self.slice(t);
        let steal = self.steal.get_or_insert_default();
        if let Ok(at) = usize::try_from(slice) {
            steal.resize(steal.len().max(at + 1), 0);
            steal[at] = steal[at].saturating_add(ns);
        }
    }

    /// An empty builder of waits that were selected by their lateness: what lies between these is no period of a loop.
    pub fn without_loops() -> Builder {
        Builder { loops: None, ..Builder::new() }
    }

    /// Counts a wait that the user didn't select. It belongs to the periods of its thread's loop nevertheless.
    pub fn leave_out(&mut self, wait: &Wait) {
        self.left_out += 1;
        self.loops.iter_mut().for_each(|loops| drop(loops.add(wait)));
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
        let slice = self.slice(wait.end);
        self.groups[place].add(wait, slice);
        if let Some(period) = self.loops.as_mut().and_then(|loops| loops.add(wait)) {
            self.groups[place].paced.add(&period);
        }
        self.since_sum += 1;
        if self.since_sum >= WAITS_PER_SUM {
            self.since_sum = 0;
            self.fit();
        }
        if wait.outcome == Outcome::Timer {
            let at = self.worst.partition_point(|worse| worse.lateness_ns >= wait.lateness_ns);
            if at < WORST {
                self.worst
                    .insert(at, Wait { before: None, timer_period: None, woken_by: String::new(), ..wait.clone() });
                self.worst.truncate(WORST);
            }
        }
    }

    /// The slice that a time is in.
    fn slice(&mut self, t: u64) -> u64 {
        let origin = *self.origin.get_or_insert(self.first.unwrap_or(t));
        let since = t.saturating_sub(origin);
        while since / self.slice_ns >= SLICES_MAX {
            // Half the range of times is more than any clock shows.
            let Some(longer) = self.slice_ns.checked_mul(2) else { break };
            self.slice_ns = longer;
            self.groups.iter_mut().for_each(Group::halve_slices);
            self.steal = self.steal.as_deref().map(halved);
        }
        (since / self.slice_ns).min(SLICES_MAX - 1)
    }

    /// The index of a wait's group, which is added if it is new.
    fn place(&mut self, wait: &Wait, program: &str) -> usize {
        let mut key = identity(wait, program);
        if let Some(place) = self.alike(&key) {
            return place;
        }
        if (self.is_full || self.groups.len() >= GROUPS_MAX) && !self.places.contains_key(&key) {
            key = of_any_request(&key);
            let has_room = self.groups.len() < 2 * GROUPS_MAX && !self.among_others.contains(&key);
            if !has_room && !self.places.contains_key(&key) {
                key = others(&key);
            }
        }
        self.place_of(key, wait.tgid)
    }

    /// The group of that identity, or of the request next to it that differs by less than matters.
    fn alike(&self, key: &Identity) -> Option<usize> {
        if let Some(&place) = self.places.get(key) {
            return Some(place);
        }
        let own = key.requested_ns?;
        let family = of_any_request(key)..=Identity { requested_ns: Some(Nanos(i64::MAX)), ..key.clone() };
        let others = self.places.range(family).filter_map(|(other, &place)| Some((other.requested_ns?, place)));
        let alike = others.filter(|(other, _)| key.request.is_alike(own, *other));
        alike.min_by_key(|(other, _)| other.0.abs_diff(own.0)).map(|(_, place)| place)
    }

    fn place_of(&mut self, key: Identity, tgid: u32) -> usize {
        if let Some(&place) = self.places.get(&key) {
            return place;
        }
        self.places.insert(key.clone(), self.groups.len());
        self.groups.push(Group::new(key, tgid));
        self.groups.len() - 1
    }

    /// If the groups take too much memory, merges the ones with the least lateness until a quarter is free: first those
    /// that differ only in their request, then any.
    fn fit(&mut self) {
        let mut bytes: usize = self.groups.iter().map(Group::bytes).sum();
        if bytes <= self.groups_bytes_max {
            return;
        }
        self.is_full = true;
        for wider in [of_any_request, others] {
            let mut members: BTreeMap<Identity, usize> = BTreeMap::new();
            for group in &self.groups {
                *members.entry(wider(&group.identity)).or_default() += 1;
            }
            let by_lateness: Vec<Identity> = self.groups().iter().map(|group| group.identity.clone()).collect();
            for narrow in by_lateness.into_iter().rev() {
                if bytes <= self.groups_bytes_max / 4 * 3 {
                    return;
                }
                let wide = wider(&narrow);
                // One alone would lose its name for nothing.
                if wide != narrow && members.get(&wide).is_some_and(|&count| count > 1) {
                    bytes = bytes.saturating_sub(self.merge(&narrow, wide));
                }
            }
        }
    }

    /// Merges a group into a wider one. Returns by how much less memory they take.
    fn merge(&mut self, narrow: &Identity, wide: Identity) -> usize {
        let Some(place) = self.places.remove(narrow) else { return 0 };
        let group = self.groups.swap_remove(place);
        if let Some(moved) = self.groups.get(place) {
            self.places.insert(moved.identity.clone(), place);
        }
        self.last_of.clear();
        if narrow.requested_ns.is_none() && self.among_others.len() < OTHERS_MAX {
            self.among_others.insert(narrow.clone());
        }
        let into = self.place_of(wide, group.waits.tgid);
        let before = group.bytes() + self.groups[into].bytes();
        self.groups[into].merge(group);
        before.saturating_sub(self.groups[into].bytes())
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

    /// The result, without findings. It knows of the machine what a recording knows.
    pub fn finish(self, meta: Meta, want_ns: Option<u64>, mut losses: Losses, machine: &Machine) -> ResultFile {
        losses.unfinished = machine.counts().unfinished;
        losses.no_room = losses.no_room.max(machine.counts().lost);
        let mut worst = self.worst;
        worst.iter_mut().for_each(|wait| wait.stack = machine.symbols().stack(wait.tgid, &wait.frames));
        let mut groups = self.groups;
        join_periods(&mut groups);
        // Equal lateness is ordered by identity, so that every run prints the same order.
        groups.sort_by(|a, b| lateness_total(b).cmp(&lateness_total(a)).then_with(|| a.identity.cmp(&b.identity)));
        let os = [Os::Windows, Os::Macos].into_iter().find(|os| os.name() == meta.os).unwrap_or(Os::Linux);
        let steal = self.steal.as_deref();
        let mut environment = Environment::default();
        if !meta.kernel.is_empty() {
            environment.set(FactName::KernelRelease, FactValue::Text(meta.kernel), "the recording");
        }
        ResultFile {
            taken_unix_s: meta.taken_unix_s,
            duration_ns: Nanos(signed(self.last.saturating_sub(self.first.unwrap_or(self.last)))),
            environment,
            series: groups.into_iter().map(|group| group.into_series(os, self.slice_ns, steal)).collect(),
            observation: Some(Observation {
                by: meta.by,
                recorder: meta.recorder,
                target: meta.target,
                processes: meta.processes,
                neighbours: Vec::new(),
                want_ns: want_ns.map(|ns| Nanos(signed(ns))),
                left_out: self.left_out,
                worst,
                losses,
                unseen: meta.unseen,
                lacks_processes: meta.lacks_processes,
                resolution_ns: meta.resolution_ns,
                wakes: None,
            }),
            ..ResultFile::empty(CommandName::Why.to_string(), PlatformId::real(os.name(), meta.arch.name()))
        }
    }
}

/// Gives all periods of a loop to the group that most of them are in: its waits may request different times.
fn join_periods(groups: &mut [Group]) {
    let mut most: BTreeMap<Identity, usize> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate().filter(|(_, group)| group.paced.count() != 0) {
        let place = most.entry(of_any_request(&group.identity)).or_insert(at);
        if groups[*place].paced.count() < group.paced.count() {
            *place = at;
        }
    }
    for at in 0..groups.len() {
        let Some(&place) = most.get(&of_any_request(&groups[at].identity)).filter(|&&place| place != at) else {
            continue;
        };
        let paced = std::mem::take(&mut groups[at].paced);
        groups[place].paced.merge(paced);
    }
}

/// The kind of waits that differ only in their request.
fn of_any_request(kind: &Identity) -> Identity {
    Identity { requested_ns: None, ..kind.clone() }
}

/// The kind of all waits that are too many kinds.
fn others(_: &Identity) -> Identity {
    Identity {
        program: "others".to_owned(),
        thread: String::new(),
        call: "any".to_owned(),
        timer: None,
        request: Request::Unknown,
        requested_ns: None,
    }
}

fn lateness_total(group: &Group) -> (i128, u64) {
    (group.lateness.sum(), group.waits.otherwise_count())
}

#[cfg(test)]
mod tests;
