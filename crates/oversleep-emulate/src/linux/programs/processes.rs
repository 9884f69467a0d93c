//! Processes with special treatment: they run natively, or their runtime has a port that waits otherwise.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::callers::Callers;
use crate::linux::process::ptrace::Tid;
use crate::plan::Adapted;

/// What is special about a process.
#[derive(Clone)]
pub enum Special {
    /// It runs natively, for this reason.
    Native(&'static str),
    /// Its runtime has adapters.
    Adapted(Arc<Program>),
}

/// A program of a runtime with adapters.
pub struct Program {
    /// What its runtime's port does.
    pub adapted: Adapted,
    /// The address range of its own code, to tell it from libraries.
    pub own_code: std::ops::Range<u64>,
    /// Its libraries' code.
    pub callers: Callers,
}

/// Why a program that filters its own calls runs natively: the filter stays in force for everything that the process
/// executes.
pub const SANDBOX: &str =
    "the program filters its own system calls and may forbid those that emulation makes: native timing";

/// All special processes, by id.
#[derive(Default)]
pub struct Processes {
    special: RwLock<HashMap<Tid, Special>>,
    /// Whether there are any. Most programs have none, and every wait checks.
    are_some: AtomicBool,
}

impl Processes {
    /// Whether there are any.
    pub fn are_some(&self) -> bool {
        self.are_some.load(Ordering::Relaxed)
    }

    /// What is special about that process.
    pub fn special(&self, process: Tid) -> Option<Special> {
        self.special.read().unwrap_or_else(PoisonError::into_inner).get(&process).cloned()
    }

    /// Whether it runs natively.
    pub fn is_native(&self, process: Tid) -> bool {
        matches!(self.special(process), Some(Special::Native(_)))
    }

    /// Marks a process as special from now on.
    pub fn set(&self, process: Tid, special: Special) {
        self.special.write().unwrap_or_else(PoisonError::into_inner).insert(process, special);
        self.are_some.store(true, Ordering::Relaxed);
    }

    /// Called when the process executes another program.
    pub fn note_exec(&self, process: Tid) {
        self.remove_unless(process, |special| matches!(special, Special::Native(why) if *why == SANDBOX));
    }

    /// Called when the process starts another one.
    pub fn note_start(&self, process: Tid, started: Tid) {
        if let Some(special) = self.special(process) {
            self.set(started, special);
        }
    }

    /// Called when the process has ended.
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
