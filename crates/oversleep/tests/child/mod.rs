//! Tests that need their own process: the test starts this program again, to run only that test.

use std::process::{Command, Stdio};

/// Set in the child's environment.
const CHILD: &str = "OVERSLEEP_TEST_CHILD";
/// The command to run this program with, words separated by spaces, if the system needs an emulator for it.
const RUNNER: &str = "OVERSLEEP_TEST_RUNNER";

/// The command that runs only the test of this name in a child, with its output captured; its errors are shown.
pub fn child(test: &str) -> Command {
    let own = std::env::current_exe().expect("a running test has a path");
    let runner = std::env::var(RUNNER).unwrap_or_default();
    let mut words = runner.split_whitespace();
    let mut command = match words.next() {
        Some(program) => {
            let mut command = Command::new(program);
            command.args(words).arg(own);
            command
        }
        None => Command::new(own),
    };
    command
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    command
}

/// Whether this process is the child.
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}
