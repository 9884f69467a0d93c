//! What the tests of every crate share. It depends on nothing, and only tests depend on it.

#![forbid(unsafe_code)]

use std::io::Write;

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
