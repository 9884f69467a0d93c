//! A small result that bytes make, written and read back as the same; then its text is damaged, and read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/oversleep-record/tests/fuzzed/checks.rs"]
mod checks;

fuzz_target!(|bytes: &[u8]| _ = checks::made_and_damaged(bytes));
