//! `cargo prove library`: checks the library as users get it: its packages as published, its documentation as docs.rs
//! builds it, every feature, the oldest supported compiler, WebAssembly, every interleaving of the parker's token, C
//! programs built by CMake, and the bindings in their own languages.
//!
//! A step that can't run here prints `SKIPPED:` and the reason.

mod bindings;
mod builds;
mod packages;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The result of a successful step.
enum Answer {
    Holds(String),
    Skipped(String),
}

type Step = fn(&Context) -> Result<Answer, String>;

const STEPS: &[(&str, Step)] = &[
    ("features", builds::features),
    ("msrv", builds::oldest_compiler),
    ("wasm", builds::web_assembly),
    ("loom", builds::interleavings),
    ("packages", packages::unpacked),
    ("semver", packages::semver),
    ("docs", packages::documentation),
    ("cmake", bindings::cmake),
    ("python", bindings::python),
    ("java", bindings::java),
];

/// The environment of a step.
struct Context {
    root: PathBuf,
    /// A separate directory below `target/library`.
    scratch: PathBuf,
    may_install: bool,
}

impl Context {
    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = Command::new("cargo");
        // Cargo runs inside Cargo here, and must not inherit the outer package.
        cargo.env_remove("CARGO_MANIFEST_DIR").current_dir(&self.root).args(arguments);
        cargo
    }
}

/// Runs the suite. Exit code 0: all is well or skipped; 1: a step failed.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let may_install = !args.iter().any(|arg| arg == "--no-install");
    let names: Vec<&str> = args.iter().map(String::as_str).filter(|arg| *arg != "--no-install").collect();
    if let Some(wrong) = names.iter().find(|name| !STEPS.iter().any(|(step, _)| step == *name)) {
        let steps: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
        return Err(format!("library takes --no-install and the names of steps ({}), not `{wrong}`", steps.join(", ")));
    }
    let mut has_failed = false;
    for (name, step) in STEPS.iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
        let scratch = xtask_tools::target_directory(root).join("library").join(name);
        std::fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        match step(&Context { root: root.to_path_buf(), scratch, may_install }) {
            Ok(Answer::Holds(what)) => println!("library: {name}: {what}"),
            Ok(Answer::Skipped(reason)) => println!("SKIPPED: library {name}: {reason}"),
            Err(fault) => {
                has_failed = true;
                println!("FAILED library {name}: {fault}");
            }
        }
    }
    Ok(ExitCode::from(u8::from(has_failed)))
}

/// Runs a command and returns what it printed.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?} did not start: {error}"))?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        return Ok(out.into_owned());
    }
    let all = format!("{out}{err}");
    let lines: Vec<&str> = all.lines().collect();
    Err(format!("{command:?}: {}\n{}", output.status, lines[lines.len().saturating_sub(40)..].join("\n")))
}

/// Whether a program starts.
fn starts(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("could not write {}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_is_refused_with_the_right_ones() {
        let error = command(Path::new("."), &["pyton".to_owned()]).unwrap_err();
        assert!(error.contains("python") && error.contains("`pyton`"), "{error}");
    }
}
