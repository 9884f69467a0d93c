//! `assert --base COMMAND --new COMMAND`: what becomes of two programs. Verdicts depend on the machine, so none is asserted.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::Output;

use super::emulate::{allowed, compiled};
use super::support::Home;

/// It requests what work of that many µs, or up to 100 µs more, would leave of 4 ms, whatever the machine does meanwhile.
const PERIODIC: &str = r#"
#include <stdlib.h>
#include <time.h>
int main(void) {
    long work = atol(getenv("WORK_US")) * 1000;
    for (int n = 0; n < 20; n++) {
        struct timespec span = { 0, 4000000 - work - n % 3 * 50000 };
        nanosleep(&span, 0);
    }
}
"#;

#[track_caller]
fn gate(home: &Home, base: &str, new: &str, within: &str) -> Option<Output> {
    let args = ["assert", "--base", base, "--new", new, "--within", within];
    allowed("sh", home.command().args(args).output().expect("it starts"))
}

#[test]
fn loops_that_request_what_their_work_leaves_are_compared() {
    let home = Home::new();
    let Some(_) = compiled(&home, PERIODIC, &[]) else { return };
    let Some(output) = gate(&home, "WORK_US=1 ./program", "WORK_US=2000 ./program", "1s") else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(matches!(output.status.code(), Some(3 | 4)), "{output:?}");
    assert!(text.contains("period beyond its request") && !text.contains("on both sides"), "{text}");
}

#[test]
fn a_command_that_outlasts_the_gate_is_named() {
    let home = Home::new();
    let Some(output) = gate(&home, "sleep 0.5", "sleep 0.5", "100ms") else { return };
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("warning: 'sleep 0.5' has run for all of --within (100 ms), and goes on"), "{text}");
}
