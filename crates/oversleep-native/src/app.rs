//! Running a user's program, on systems without signals.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Command;

/// Runs a program to its end and returns its exit code. It inherits from the calling thread and this process.
///
/// # Errors
/// If it can't be started.
pub fn run(program: &OsStr, arguments: &[OsString]) -> io::Result<i32> {
    run_signalled(program, arguments).map(|(code, _)| code)
}

/// The same; no signal is passed on.
///
/// # Errors
/// If it can't be started.
pub fn run_signalled(program: &OsStr, arguments: &[OsString]) -> io::Result<(i32, bool)> {
    let status = Command::new(program).args(arguments).status()?;
    Ok((status.code().unwrap_or(1), false))
}
