//! New threads and processes, each of which causes two stops: its own first one, and one of the thread that started it.
//!
//! The two come in either order. What a new thread inherits is known from the second one, so it doesn't run before both.
//! The second one may not come at all: the thread that started it was killed on its way there, or asked for
//! `CLONE_PTRACE` with `CLONE_UNTRACED` by `clone3`. So a new thread waits for a while only.

use std::collections::{HashMap, HashSet};

use oversleep_record::Nanos;

use crate::linux::process::ptrace::Tid;

/// How long a new thread waits. Between its own start and its stop, the thread that started it has nothing to wait for
/// but a CPU.
const HELD_MAX: Nanos = Nanos(100_000_000);

/// Threads still missing one of their two stops.
#[derive(Debug, Default)]
pub struct Births {
    announced: HashSet<Tid>,
    held: HashMap<Tid, Nanos>,
}

impl Births {
    /// A thread stopped, maybe for the first time. Returns whether it may run; otherwise it stays stopped.
    pub fn note_stop(&mut self, tid: Tid, is_known: bool, now: Nanos) -> bool {
        let may_run = self.announced.remove(&tid) || is_known;
        if !may_run {
            self.held.insert(tid, now);
        }
        may_run
    }

    /// Another thread said that it started this one. Returns whether it stopped before, and may run now.
    pub fn announce(&mut self, started: Tid) -> bool {
        let has_stopped = self.held.remove(&started).is_some();
        if !has_stopped {
            self.announced.insert(started);
        }
        has_stopped
    }

    /// A thread is gone.
    pub fn forget(&mut self, tid: Tid) {
        self.announced.remove(&tid);
        self.held.remove(&tid);
    }

    /// Whether a thread is held, so that [`Births::release_overdue`] matters.
    pub fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// The threads that were held long enough, and may run now.
    pub fn release_overdue(&mut self, now: Nanos) -> Vec<Tid> {
        self.held.extract_if(|_, since| now - *since >= HELD_MAX).map(|(tid, _)| tid).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Nanos = Nanos(1_000);

    #[test]
    fn a_new_thread_runs_after_both_stops_in_either_order() {
        let mut births = Births::default();
        assert!(!births.announce(7), "it has not stopped yet");
        assert!(births.note_stop(7, false, START), "it was announced");
        assert!(!births.note_stop(8, false, START), "it was not announced yet");
        assert!(births.announce(8), "it is stopped");
        assert!(!births.holds_any(), "neither is held any more");
        assert!(births.note_stop(9, true, START), "it stopped for another reason");
    }

    #[test]
    fn a_thread_that_nobody_announces_runs_after_a_while() {
        let mut births = Births::default();
        assert!(!births.note_stop(7, false, START));
        assert!(!births.note_stop(8, false, START + Nanos(1)));
        assert!(births.release_overdue(START + HELD_MAX - Nanos(1)).is_empty());
        assert_eq!(births.release_overdue(START + HELD_MAX), [7]);
        assert!(births.holds_any(), "8 came later");
        births.forget(8);
        assert!(!births.holds_any());
    }

    #[test]
    fn an_id_that_is_used_again_begins_anew() {
        let mut births = Births::default();
        assert!(!births.announce(7));
        births.forget(7);
        assert!(!births.note_stop(7, false, START), "the announcement ended with its thread");
    }
}
