//! What the tests of every crate share. It depends on nothing, and only tests depend on it.

#![forbid(unsafe_code)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Says that a test, or a part of one, can't run here, and why. The test harness hides what a passing test prints by
/// `eprintln!`; this reaches the terminal, and CI lists it in its summary.
///
/// `OVERSLEEP_FORBID_SKIPS=1` makes it a failure, for a machine that has everything.
#[track_caller]
pub fn skip(reason: impl std::fmt::Display) {
    let reason = reason.to_string().trim_end().replace('\n', " ");
    let caller = std::panic::Location::caller();
    let must_run = std::env::var_os("OVERSLEEP_FORBID_SKIPS").is_some_and(|value| value == "1");
    assert!(!must_run, "not run: {reason}");
    // One write: the lines of tests that run beside each other don't mix. The harness may have begun a line.
    let line = format!("\nSKIPPED: {}:{}: {reason}\n", caller.file(), caller.line());
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Writes a file that can be executed, on Unix. Another process does it: a file that this one has open for writing is open
/// in each child that another test starts meanwhile, until that one executes its program, and until then the file can't be
/// executed itself (`Text file busy`).
///
/// # Panics
/// If it can't be written.
#[track_caller]
pub fn write_executable(path: &Path, bytes: &[u8], mode: u32) {
    let mut command = Command::new("sh");
    command.args(["-ec", "cat > \"$1\"; chmod \"$2\" \"$1\"", "sh"]).arg(path).arg(format!("{mode:o}"));
    let mut child = command.stdin(Stdio::piped()).spawn().expect("a shell starts");
    child.stdin.take().expect("it is piped").write_all(bytes).expect("the shell reads");
    assert!(child.wait().expect("it ends").success(), "{}", path.display());
}

/// Copies a program in the same way.
///
/// # Panics
/// If it can't be copied.
#[track_caller]
pub fn copy_executable(from: &Path, to: &Path, mode: u32) {
    let bytes = std::fs::read(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    write_executable(to, &bytes, mode);
}
