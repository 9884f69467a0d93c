//! C programs that only some systems support: cancelled threads.
#![cfg(unix)]

#[allow(dead_code, reason = "the other programs need more of it")]
#[path = "../programs/toolchain.rs"]
mod toolchain;

use toolchain::{Language, Linkage, Toolchain};

#[test]
fn a_cancelled_thread_ends_after_the_calls() {
    let Some(toolchain) = Toolchain::find(Language::C) else { return };
    for linkage in [Linkage::Static, Linkage::Shared] {
        if let Some(program) = toolchain.build("tests/c/cancelled.c", linkage) {
            assert_eq!(program.run(&[]).trim(), "all calls returned, then it ended");
        }
    }
}
