//! `cargo prove faults`: the fault table. Each row stages one fault with the built command and compares the outcome with its
//! expectation. Without `--all` a sample of the cases runs; a name limits it to the rows whose kind or name contains it.

#[cfg(unix)]
mod filter;
#[cfg(unix)]
mod judge;
#[cfg(unix)]
mod needs;
#[cfg(unix)]
mod page;
#[cfg(unix)]
mod row;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod stage;
#[cfg(unix)]
mod table;

#[cfg(unix)]
use run::{Outcome, Ran};

#[cfg(unix)]
pub use filter::run as filtered;
#[cfg(unix)]
pub use run::command;

/// The table is staged with shells, signals and limits.
#[cfg(not(unix))]
pub fn command(_: &std::path::Path, _: &[String]) -> Result<std::process::ExitCode, String> {
    Err("the fault table runs on Unix systems".to_owned())
}

/// [`command`] where rows can't be staged.
#[cfg(not(unix))]
pub fn filtered(_: &[String]) -> Result<std::process::ExitCode, String> {
    Err("system calls are filtered on Linux only".to_owned())
}
