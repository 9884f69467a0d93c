//! The stand-in for systems and processors without emulation.

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

/// Does nothing: no program was run.
pub fn end_by(_signal: i32) {}
