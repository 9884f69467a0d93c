//! The names of processes: from the stream, from a recording's head, or from the system while they run.

use std::collections::HashMap;

use oversleep_why::recording::Named;
use oversleep_why::{Machine, Wait};

/// Processes that are remembered at most.
const KEPT_MAX: usize = 16_384;

/// Names by process.
#[derive(Debug, Default)]
pub struct Names {
    known: HashMap<u32, Named>,
    is_live: bool,
}

impl Names {
    /// The names of a recording.
    pub fn of(named: &[Named]) -> Names {
        Names { known: named.iter().map(|named| (named.tgid, named.clone())).collect(), is_live: false }
    }

    /// Names that the system is asked for.
    pub fn live() -> Names {
        Names { known: HashMap::new(), is_live: true }
    }

    /// The name of the program that a wait belongs to.
    pub fn program(&mut self, machine: &Machine, wait: &Wait) -> String {
        if self.is_live && !self.known.contains_key(&wait.tgid) && self.known.len() < KEPT_MAX {
            self.learn(wait.tgid);
        }
        let stream = machine.processes().get(&wait.tgid).map(|process| process.name.clone());
        let known = || self.known.get(&wait.tgid).map(|named| named.name.clone());
        stream.filter(|name| !name.is_empty()).or_else(known).unwrap_or_else(|| wait.thread.clone())
    }

    /// Asks the system for a process.
    pub fn learn(&mut self, tgid: u32) {
        if let Some(name) = oversleep_collect::command_name(tgid) {
            self.known.insert(tgid, Named { tgid, name, cgroup: oversleep_collect::cgroup_of(tgid) });
        }
    }

    /// All that is known, for the head of a recording or a result.
    pub fn list(&self) -> Vec<Named> {
        let mut list: Vec<Named> = self.known.values().cloned().collect();
        list.sort_by_key(|named| named.tgid);
        list
    }
}
