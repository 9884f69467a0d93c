//! Other programs: finding, building, running and timing them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Reason;

/// A program's path, found on the search path.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|candidate| candidate.is_file())
}

/// Runs a program to its end and returns its standard output; its standard error is dropped.
///
/// # Errors
/// A sentence if it could not be started, or if it failed, with the last line of its standard error.
pub fn output(program: &Path, arguments: &[String]) -> Result<String, Reason> {
    let line = || line(program, arguments);
    let ended = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`{}` could not be started: {error}", line()))?;
    if !ended.status.success() {
        let stderr = String::from_utf8_lossy(&ended.stderr);
        let last = stderr.lines().last().unwrap_or_default();
        return Err(format!("`{}` failed ({}): {last}", line(), ended.status));
    }
    String::from_utf8(ended.stdout).map_err(|_| format!("`{}` printed something that isn't text", line()))
}

/// The duration of a program from start to end, as its parent sees it. Its output is dropped.
///
/// # Errors
/// A sentence if it could not be started, or failed.
pub fn wall_time(program: &Path, arguments: &[String]) -> Result<Duration, Reason> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status();
    let duration = start.elapsed();
    match status {
        Ok(status) if status.success() => Ok(duration),
        Ok(status) => Err(format!("`{}` failed ({status})", line(program, arguments))),
        Err(error) => Err(format!("`{}` could not be started: {error}", line(program, arguments))),
    }
}

/// A command as typed, without the program's directory, which is specific to one machine.
pub fn line(program: &Path, arguments: &[String]) -> String {
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy();
    std::iter::once(name.as_ref()).chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// The words of a line as owned arguments.
pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// The project's root.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The `oversleep` command: `OVERSLEEP_BIN` if that is set, otherwise a release build of this tree.
///
/// # Errors
/// A sentence that says why there is none.
pub fn oversleep() -> Result<PathBuf, Reason> {
    if let Some(named) = std::env::var_os("OVERSLEEP_BIN") {
        let named = PathBuf::from(named);
        return match named.is_file() {
            true => Ok(named),
            false => Err(format!("OVERSLEEP_BIN is {}, which is no file; set it to a built command", named.display())),
        };
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--package", "oversleep-cli", "--message-format", "json-render-diagnostics"])
        .current_dir(root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if !built.status.success() {
        return Err("the oversleep command could not be built; set OVERSLEEP_BIN to a built one".to_owned());
    }
    executable(&String::from_utf8_lossy(&built.stdout)).ok_or_else(|| "cargo named no executable".to_owned())
}

/// The executable named in cargo's messages, one JSON object per line.
fn executable(messages: &str) -> Option<PathBuf> {
    messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()).find_map(|message| {
        let is_ours = message["target"]["name"] == "oversleep";
        message["executable"].as_str().filter(|_| is_ours).map(PathBuf::from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_the_one_of_the_command() {
        let messages = concat!(
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"build-script-build\"},\"executable\":\"/a/x\"}\n",
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"oversleep\"},\"executable\":null}\n",
            "words of a build script\n",
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"oversleep\"},\"executable\":\"/a/oversleep\"}\n",
        );
        assert_eq!(executable(messages), Some(PathBuf::from("/a/oversleep")));
        assert_eq!(executable(""), None);
    }

    #[test]
    fn a_line_names_no_directory() {
        assert_eq!(line(Path::new("/some/where/tool"), &words("-a  1")), "tool -a 1");
    }

    #[test]
    fn a_missing_program_is_a_sentence() {
        let missing = Path::new("/nonexistent/tool");
        assert!(output(missing, &[]).unwrap_err().starts_with("`tool` could not be started"));
        assert!(wall_time(missing, &[]).is_err());
        assert_eq!(find("a-program-nobody-has-installed"), None);
    }
}
