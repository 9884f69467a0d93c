//! Running a user's program, on systems without signals.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Command;

use crate::AppEnd;

/// Runs a program to its end and returns how it ended. It inherits from the calling thread and this process.
///
/// # Errors
/// If it can't be started.
pub fn run(program: &OsStr, arguments: &[OsString]) -> io::Result<AppEnd> {
    run_signalled(program, arguments).map(|(end, _)| end)
}

/// The same; no signal is passed on.
///
/// # Errors
/// If it can't be started.
pub fn run_signalled(program: &OsStr, arguments: &[OsString]) -> io::Result<(AppEnd, bool)> {
    let status = Command::new(program).args(arguments).status()?;
    Ok((status.into(), false))
}

/// Does nothing: no program ends by a signal here.
pub fn end_by(_signal: i32) {}
