//! The stand-in for systems and processors without emulation.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;

use oversleep_record::observed::By;
use oversleep_why::Event;

use crate::{Ended, Failure, Request};

const WHY: &str = "emulation needs Linux on x86-64: the supervisor redirects its system calls there";

/// Runs nothing: there is no emulation here.
///
/// # Errors
/// Always.
pub fn run(_request: Request) -> Result<Ended, Failure> {
    Err(Failure::Own(WHY.to_owned()))
}

/// Changes nothing: there is no emulation here.
///
/// # Errors
/// Always.
pub fn control(_supervisor: i32, _words: &str) -> Result<String, Failure> {
    Err(Failure::Own(WHY.to_owned()))
}

/// An observation, which can't exist here.
#[derive(Debug)]
pub struct Observation(Infallible);

/// An observed program, which can't exist here.
#[derive(Debug)]
pub struct Running(Infallible);

impl Observation {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn begin(_program: &[OsString], _follows_children: bool) -> Result<(Observation, Running), Failure> {
        Err(Failure::Own("a supervisor needs Linux on x86-64".to_owned()))
    }

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn check() -> Result<(), Failure> {
        Observation::begin(&[], false).map(drop)
    }

    /// Who would follow the waits.
    pub fn by() -> By {
        By::Supervisor
    }

    /// The program's process id.
    pub fn id(&self) -> u32 {
        match self.0 {}
    }

    /// Appends the events that have arrived.
    pub fn drain(&mut self, _events: &mut Vec<Event>, _is_last: bool) -> bool {
        match self.0 {}
    }
}

impl Running {
    /// Waits for the program's end.
    ///
    /// # Errors
    /// Never, because there is no program.
    pub fn wait(self) -> io::Result<ExitStatus> {
        match self.0 {}
    }
}
