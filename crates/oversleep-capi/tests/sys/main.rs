//! C programs that only some systems support: cancelled threads, signals and forks.
#![cfg(unix)]

#[allow(dead_code, reason = "the other programs need more of it")]
#[path = "../programs/toolchain.rs"]
mod toolchain;

use toolchain::{Language, Linkage, Toolchain};

/// What a program prints, linked with either library.
fn prints(source: &str, expected: &str) {
    let Some(toolchain) = Toolchain::find(Language::C) else { return };
    for linkage in [Linkage::Static, Linkage::Shared] {
        if let Some(program) = toolchain.build(source, linkage) {
            assert_eq!(program.run(&[]).trim(), expected, "{linkage:?}");
        }
    }
}

#[test]
fn a_cancelled_thread_ends_after_the_calls() {
    prints("tests/c/cancelled.c", "all calls returned, then it ended");
}

#[test]
fn signals_forks_and_other_threads_find_every_handle_in_order() {
    prints("tests/c/interrupted.c", "all checks passed");
}
