//! Processes whose waits are not those of most: they run natively, or their runtime has a port that waits otherwise.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::ptrace::Tid;
use crate::plan::Adapted;

/// What is special about a process.
#[derive(Clone)]
pub enum Special {
    /// It runs natively, because of that.
    Native(&'static str),
    /// It is of a runtime with adapters.
    Adapted(Arc<Program>),
}

/// A program of a runtime with adapters.
pub struct Program {
    /// What its runtime's port does.
    pub adapted: Adapted,
    /// Where its own code is, to tell it from libraries.
    pub own_code: std::ops::Range<u64>,
}

/// Why a program that filters its own calls runs natively. A filter stays with all that the process executes.
pub const SANDBOX: &str =
    "the program filters its own system calls and may forbid those that emulation makes: native timing";

/// All special processes, by id.
#[derive(Default)]
pub struct Processes {
    special: RwLock<HashMap<Tid, Special>>,
    /// Whether there are any: most programs have none, and each wait asks.
    are_some: AtomicBool,
}

impl Processes {
    /// Whether there are any.
    pub fn are_some(&self) -> bool {
        self.are_some.load(Ordering::Relaxed)
    }

    /// What is special about that process.
    pub fn of(&self, process: Tid) -> Option<Special> {
        self.special.read().unwrap_or_else(PoisonError::into_inner).get(&process).cloned()
    }

    /// From now on, that process is so.
    pub fn set(&self, process: Tid, special: Special) {
        self.special.write().unwrap_or_else(PoisonError::into_inner).insert(process, special);
        self.are_some.store(true, Ordering::Relaxed);
    }

    /// It executes another program.
    pub fn executes(&self, process: Tid) {
        self.remove_unless(process, |special| matches!(special, Special::Native(why) if *why == SANDBOX));
    }

    /// It started that process.
    pub fn starts(&self, process: Tid, started: Tid) {
        if let Some(special) = self.of(process) {
            self.set(started, special);
        }
    }

    /// It ended.
    pub fn forget(&self, process: Tid) {
        self.remove_unless(process, |_| false);
    }

    fn remove_unless(&self, process: Tid, stays: impl Fn(&Special) -> bool) {
        if self.are_some() {
            let mut special = self.special.write().unwrap_or_else(PoisonError::into_inner);
            special.retain(|&one, special| one != process || stays(special));
        }
    }
}
