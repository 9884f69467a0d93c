//! Processes in time namespaces of their own, whose clocks since boot are ahead of the supervisor's.
//! <https://man7.org/linux/man-pages/man7/time_namespaces.7.html>

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use oversleep_record::Nanos;

use crate::linux::process::ptrace::Tid;

/// How far the clocks of a process are ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ahead {
    monotonic: Nanos,
    boottime: Nanos,
}

/// The processes in other namespaces. Hardly any program has one, and every wait checks.
#[derive(Default)]
pub struct TimeSpaces {
    others: RwLock<HashMap<Tid, Ahead>>,
    are_some: AtomicBool,
}

impl TimeSpaces {
    /// A process is new, or executes a program: only then is it in another namespace than before. Whether it is in another
    /// one than the supervisor.
    pub fn meet(&self, process: Tid) -> bool {
        static OWN: OnceLock<Option<PathBuf>> = OnceLock::new();
        let space = |process: &str| fs::read_link(format!("/proc/{process}/ns/time")).ok();
        let theirs = space(&process.to_string());
        if theirs.is_none() || theirs == *OWN.get_or_init(|| space("self")) {
            self.forget(process);
            return false;
        }
        let offsets = |process: &str| fs::read_to_string(format!("/proc/{process}/timens_offsets")).unwrap_or_default();
        let ahead = difference(&offsets(&process.to_string()), &offsets("self"));
        self.others.write().unwrap_or_else(PoisonError::into_inner).insert(process, ahead);
        self.are_some.store(true, Ordering::SeqCst);
        true
    }

    /// Whether the process is in another namespace.
    pub fn has(&self, process: Tid) -> bool {
        self.are_some() && self.others.read().unwrap_or_else(PoisonError::into_inner).contains_key(&process)
    }

    /// Whether any process is.
    pub fn are_some(&self) -> bool {
        self.are_some.load(Ordering::SeqCst)
    }

    /// How far a clock of that process is ahead of the supervisor's.
    pub fn ahead(&self, process: Tid, clock: libc::clockid_t) -> Nanos {
        if !self.are_some() {
            return Nanos::ZERO;
        }
        let ahead =
            self.others.read().unwrap_or_else(PoisonError::into_inner).get(&process).copied().unwrap_or_default();
        match clock {
            libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_MONOTONIC_COARSE => ahead.monotonic,
            libc::CLOCK_BOOTTIME | libc::CLOCK_BOOTTIME_ALARM => ahead.boottime,
            _ => Nanos::ZERO,
        }
    }

    /// The process has ended.
    pub fn forget(&self, process: Tid) {
        if self.are_some() {
            self.others.write().unwrap_or_else(PoisonError::into_inner).remove(&process);
        }
    }
}

/// How far the clocks with some offsets are ahead of those with others. The files have a line for each clock: its name,
/// seconds and nanoseconds.
fn difference(theirs: &str, own: &str) -> Ahead {
    let offset = |text: &str, clock: &str| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(clock));
        let mut numbers = line.unwrap_or_default().split_whitespace().filter_map(|number| number.parse::<i64>().ok());
        let (secs, ns) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        Nanos(secs.saturating_mul(1_000_000_000).saturating_add(ns))
    };
    let between = |clock| offset(theirs, clock) - offset(own, clock);
    Ahead { monotonic: between("monotonic"), boottime: between("boottime") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_ahead_by_the_difference_of_the_offsets() {
        let theirs = "monotonic        1000        5\nboottime         -500 999999999\n";
        let own = "monotonic           0         0\nboottime          100         0\n";
        let ahead = Ahead { monotonic: Nanos(1_000_000_000_005), boottime: Nanos(-599_000_000_001) };
        assert_eq!(difference(theirs, own), ahead);
        assert_eq!(difference("", ""), Ahead::default(), "a kernel without such namespaces");
        let spaces = TimeSpaces::default();
        let process = std::process::id() as Tid;
        assert!(!spaces.meet(process) && !spaces.are_some(), "its own");
        spaces.others.write().unwrap().insert(process, ahead);
        spaces.are_some.store(true, Ordering::SeqCst);
        let of = |clock| spaces.ahead(process, clock);
        assert_eq!(of(libc::CLOCK_MONOTONIC_COARSE), ahead.monotonic);
        assert_eq!(of(libc::CLOCK_BOOTTIME), ahead.boottime);
        assert_eq!([of(libc::CLOCK_REALTIME), spaces.ahead(1, 1)], [Nanos::ZERO; 2]);
        spaces.meet(process);
        assert!(!spaces.has(process), "it is in ours again");
    }
}
