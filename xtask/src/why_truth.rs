//! Runs the ground truth of `oversleep why`: burns a known time at each stage of a wait, and runs programs whose splits
//! are known. It needs root on Linux and takes five minutes.

use std::path::Path;
use std::process::{Command, ExitCode};

pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    run(root, &[], args)
}

/// Builds and runs it.
pub fn run(root: &Path, profile: &[&str], args: &[String]) -> Result<ExitCode, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["run", "--quiet", "--package", "oversleep-collect", "--example", "truth"]);
    command.args(profile).arg("--").args(args);
    let status = command.status().map_err(|error| format!("can't run cargo: {error}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
