//! What is known about timeouts of sockets: which descriptors have a filter, and what was requested.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::Mutex;

use oversleep_record::Nanos;

use crate::linux::process::lock::lock;
use crate::linux::process::ptrace::Tid;

/// How many sockets' requested timeouts are kept. Those of others end when the kernel's value says.
const REQUESTED_MAX: usize = 10_000;

/// The longest tick of a kernel, by which it may round a timeout up: 1/HZ.
const TICK_MAX: Nanos = Nanos(10_000_000);

/// What a timeout is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    Receives,
    Sends,
}

/// Whether a process has a filter, or may get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    HasIt,
    Install,
    /// The system refused one before.
    Refused,
    TooMany,
}

/// How many filters a process may have, with those that it inherits: each one is run at all calls that receive, or at all
/// that send.
const FILTERS_MAX: usize = 32;

/// What is known about the timeouts of all processes.
#[derive(Default)]
pub struct Timeouts {
    filters: Mutex<HashMap<Tid, Filters>>,
    /// What programs requested. The kernel keeps it in its own ticks.
    requested: Mutex<HashMap<Timeout, Nanos>>,
    /// Held while a filter is written to a process and installed: processes may share memory.
    installing: Mutex<()>,
}

/// One of the two timeouts of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timeout {
    pub inode: u64,
    pub way: Way,
}

/// What a filter of a process inspects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Filtered {
    pub descriptor: i32,
    pub way: Way,
}

/// The filters of a process, which it keeps whatever it executes, and which all processes that it starts inherit.
#[derive(Clone, Default)]
struct Filters {
    descriptors: BTreeSet<Filtered>,
    /// Whether the system refused one.
    is_refused: bool,
}

impl Timeouts {
    /// A process started another, which hasn't run yet. Another thread may have installed a filter since: then the
    /// numbers of their filters differ, and the new process gets its own in time. (`Seccomp_filters`: Linux 5.9.)
    pub fn note_start(&self, process: Tid, started: Tid, count: impl Fn(Tid) -> Option<Tid>) {
        let mut filters = lock(&self.filters);
        if let Some(inherited) = filters.get(&process).filter(|_| count(process) == count(started)).cloned() {
            filters.insert(started, inherited);
        }
    }

    /// Whether a process has any.
    pub fn are_some(&self) -> bool {
        !lock(&self.filters).is_empty()
    }

    /// A process has ended.
    pub fn forget(&self, process: Tid) {
        lock(&self.filters).remove(&process);
    }

    /// What has to be done for a process to have that filter.
    pub fn decide(&self, process: Tid, filtered: Filtered) -> Decision {
        let mut filters = lock(&self.filters);
        let of = filters.entry(process).or_default();
        match (of.descriptors.contains(&filtered), of.is_refused, of.descriptors.len() >= FILTERS_MAX) {
            (true, ..) => Decision::HasIt,
            (false, true, _) => Decision::Refused,
            (false, false, true) => Decision::TooMany,
            (false, false, false) => Decision::Install,
        }
    }

    /// Installs a filter, one at a time, and notes what the system answered; an error if the thread is gone.
    pub fn install(
        &self,
        process: Tid,
        filtered: Filtered,
        install: impl FnOnce() -> io::Result<i64>,
    ) -> io::Result<()> {
        let answer = {
            let _installing = lock(&self.installing);
            install()?
        };
        let mut filters = lock(&self.filters);
        let of = filters.entry(process).or_default();
        match answer {
            0 => _ = of.descriptors.insert(filtered),
            _ => of.is_refused = true,
        }
        Ok(())
    }

    /// A socket gets that timeout.
    pub fn note_requested(&self, timeout: Timeout, span: Nanos) {
        let mut requested = lock(&self.requested);
        if requested.len() >= REQUESTED_MAX {
            requested.clear();
        }
        requested.insert(timeout, span);
    }

    /// The timeout that was requested for that socket, where the kernel keeps that span.
    pub fn requested(&self, timeout: Timeout, kept: Nanos) -> Nanos {
        let requested = lock(&self.requested).get(&timeout).copied();
        requested.filter(|&requested| is_kept_as(requested, kept)).unwrap_or(kept)
    }
}

/// Whether the kernel may keep a requested timeout so: it rounds it up to its tick.
fn is_kept_as(requested: Nanos, kept: Nanos) -> bool {
    (Nanos::ZERO..TICK_MAX).contains(&(kept - requested))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_process_has_the_filters_of_its_parent_unless_more_came_meanwhile() {
        let timeouts = Timeouts::default();
        lock(&timeouts.filters)
            .entry(7)
            .or_default()
            .descriptors
            .insert(Filtered { descriptor: 3, way: Way::Receives });
        assert!(timeouts.are_some());
        for (started, count, inherited) in [(8, 2, 1), (9, 1, 0)] {
            timeouts.note_start(7, started, |process| Some(if process == 7 { 2 } else { count }));
            assert_eq!(lock(&timeouts.filters).get(&started).map_or(0, |of| of.descriptors.len()), inherited);
        }
    }

    #[test]
    fn a_timeout_is_kept_in_ticks_of_the_kernel() {
        let ms = |ms: i64| Nanos(ms * 1_000_000);
        for (requested, kept, is_it) in [(10, 12, true), (10, 10, true), (10, 9, false), (10, 30, false)] {
            assert_eq!(is_kept_as(ms(requested), ms(kept)), is_it, "{requested} {kept}");
        }
        let timeouts = Timeouts::default();
        timeouts.note_requested(Timeout { inode: 7, way: Way::Sends }, ms(10));
        let of = |socket, way, kept| timeouts.requested(Timeout { inode: socket, way }, ms(kept));
        assert_eq!([of(7, Way::Sends, 12), of(7, Way::Sends, 500)], [ms(10), ms(500)]);
        assert_eq!([of(8, Way::Sends, 12), of(7, Way::Receives, 12)], [ms(12); 2]);
    }
}
