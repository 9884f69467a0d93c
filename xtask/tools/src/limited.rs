//! Commands with a time limit and a log.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// How many lines of a failed step's log are printed.
const TAIL_LINES: usize = 60;

/// Runs a command under `timeout`, which also ends what the command started. Returns the exit code: 124 or 137 if the
/// time ran out.
pub fn run_limited(command: &Command, minutes_max: u32, log: &Path) -> Result<i32, String> {
    let output = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
    let errors = output.try_clone().map_err(|error| error.to_string())?;
    let mut limited = Command::new("timeout");
    limited.args(["--kill-after=30s", &format!("{minutes_max}m")]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        limited.current_dir(directory);
    }
    limited.stdin(Stdio::null()).stdout(output).stderr(errors);
    let status = limited.status().map_err(|error| format!("timeout: {error}"))?;
    status.code().ok_or_else(|| format!("{status}"))
}

/// The last lines of a log, and before them what failed in the lines that are left out.
pub fn tail(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let (before, last) = lines.split_at(lines.len().saturating_sub(TAIL_LINES));
    let is_failure = |line: &&str| line.ends_with("... FAILED") || line.contains("panicked at ");
    let failed = before.iter().enumerate().filter(|(_, line)| is_failure(line));
    // A panic's message is in the lines after it.
    let failed = failed.flat_map(|(at, _)| &before[at..before.len().min(at + 3)]);
    failed.chain(last).copied().collect::<Vec<_>>().join("\n")
}
