//! Systems and processors on which nothing is emulated.

use crate::{Ended, Failure, Request};

const WHY: &str = "emulation needs Linux on x86-64: the supervisor redirects its system calls there";

/// Runs nothing.
///
/// # Errors
/// Always.
pub fn run(_request: Request) -> Result<Ended, Failure> {
    Err(Failure::Own(WHY.to_owned()))
}

/// Changes nothing.
///
/// # Errors
/// Always.
pub fn control(_supervisor: i32, _words: &str) -> Result<String, Failure> {
    Err(Failure::Own(WHY.to_owned()))
}

/// Ends nothing.
pub fn end_by(_signal: i32) {}
