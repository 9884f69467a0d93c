//! The stand-in for systems without a collector.

use std::io;
use std::process::{Child, Command};

use oversleep_why::Event;
use oversleep_why::recording::Named;

use crate::{CollectError, Losses, Options};

/// The collector, which can't exist on this system.
#[derive(Debug)]
pub enum Collector {}

impl Collector {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn open(_options: Options) -> Result<Collector, CollectError> {
        Err(CollectError::System)
    }

    /// Sets how long the program intends to wait, in ns, if the user says so.
    pub fn want(&mut self, _want_ns: Option<u64>) {
        match *self {}
    }

    /// Follows a process.
    ///
    /// # Errors
    /// Never, because there is no collector.
    pub fn follow(&mut self, _pid: u32) -> Result<(), CollectError> {
        match *self {}
    }

    /// Starts a program and follows it.
    ///
    /// # Errors
    /// Never, because there is no collector.
    pub fn spawn(&mut self, _command: &mut Command) -> io::Result<Child> {
        match *self {}
    }

    /// Sets the lateness from which a wait's stacks are taken, in ns.
    pub fn stacks_from(&mut self, _lateness_ns: i64) {
        match *self {}
    }

    /// Reads the events that have arrived.
    pub fn drain(&mut self, _events: &mut Vec<Event>, _is_last: bool) -> bool {
        match *self {}
    }

    /// Detaches the kernel program.
    pub fn stop(&mut self) {
        match *self {}
    }

    /// Detaches and unloads the kernel program.
    pub fn unload(self) {
        match self {}
    }

    /// The time until the next read.
    pub fn pause(&self) -> std::time::Duration {
        match *self {}
    }

    /// The kernel's counters.
    pub fn losses(&mut self) -> Losses {
        match *self {}
    }
}

/// A process's name, and its place among the groups that share the CPUs.
pub fn named(_tgid: u32) -> Option<Named> {
    None
}
