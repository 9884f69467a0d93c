//! Runs the ground truth of `oversleep why` (the package `truth`): burns a known time at each stage of a wait, and runs
//! programs whose splits are known; or measures what following a program costs, and checks that no loss is uncounted:
//! attribution beside busy CPUs, the overhead per wake-up alternated with `perf trace`, CPU time, a minute at the highest
//! rate, a replay, 10,000 threads. Both need root on Linux and take five minutes.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::built::program_here;

pub fn truth(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    run(root, &[], args)
}

/// As users get it: costs of a debug build say nothing.
pub fn cost(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let all = ["cost".to_owned()];
    run(root, &["--release"], if args.is_empty() { &all } else { args })
}

fn run(root: &Path, profile: &[&str], args: &[String]) -> Result<ExitCode, String> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root).args(["run", "--quiet"]).args(program_here(root, "truth"));
    let status = command.args(profile).arg("--").args(args).status();
    let status = status.map_err(|error| format!("can't run cargo: {error}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
