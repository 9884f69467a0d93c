//! New threads and processes, each of which causes two stops: its own first one, and one of the thread that started it.
//!
//! The two come in either order. What a new thread inherits is known from the second one, so it doesn't run before both.

use std::collections::HashSet;

use super::ptrace::Tid;

/// Threads of which one of the two stops has come.
#[derive(Debug, Default)]
pub struct Births {
    announced: HashSet<Tid>,
    held: HashSet<Tid>,
}

impl Births {
    /// A thread stopped, maybe for the first time. Returns whether it may run; otherwise it stays stopped.
    pub fn stops(&mut self, tid: Tid, is_known: bool) -> bool {
        let may_run = self.announced.remove(&tid) || is_known;
        if !may_run {
            self.held.insert(tid);
        }
        may_run
    }

    /// Another thread said that it started this one. Returns whether it stopped before, and may run now.
    pub fn is_announced(&mut self, started: Tid) -> bool {
        let has_stopped = self.held.remove(&started);
        if !has_stopped {
            self.announced.insert(started);
        }
        has_stopped
    }

    /// A thread is gone, or its process executes another program: a thread that it was starting isn't announced any
    /// more. Returns all that were held.
    pub fn ends(&mut self, tid: Tid) -> Vec<Tid> {
        self.announced.remove(&tid);
        self.held.remove(&tid);
        self.held.drain().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_thread_runs_after_both_stops_in_either_order() {
        let mut births = Births::default();
        assert!(!births.is_announced(7), "it has not stopped yet");
        assert!(births.stops(7, false), "it was announced");
        assert!(!births.stops(8, false), "it was not announced yet");
        assert!(births.is_announced(8), "it is stopped");
        assert!(births.ends(7).is_empty(), "neither is held any more");
        assert!(births.stops(9, true), "it stopped for another reason");
    }

    #[test]
    fn the_end_of_a_thread_lets_those_run_that_it_can_not_announce() {
        let mut births = Births::default();
        assert!(!births.stops(7, false));
        assert!(!births.stops(8, false));
        assert_eq!(births.ends(8), [7], "8 itself is gone");
        assert!(!births.is_announced(7), "an id that is used again begins anew");
        assert!(births.ends(7).is_empty());
        assert!(!births.stops(7, false), "the announcement ended with its thread");
    }
}
