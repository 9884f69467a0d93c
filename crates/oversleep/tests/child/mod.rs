//! Tests that need a process of their own: the test starts this very program again for itself alone, and there only
//! does what it is about.

use std::process::{Command, Stdio};

/// When this variable is set, the test is such a child.
const CHILD: &str = "OVERSLEEP_TEST_CHILD";
/// What to run this program by, words separated by spaces, where the system can't run it itself (an emulator).
const RUNNER: &str = "OVERSLEEP_TEST_RUNNER";

/// This program for the test of that name alone, with its output caught.
pub fn child(test: &str) -> Command {
    let own = std::env::current_exe().expect("the test knows itself");
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
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, "1").stdout(Stdio::piped());
    command
}

/// Whether this is the child.
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}
