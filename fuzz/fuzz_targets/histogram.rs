//! Any counts in a well-formed envelope as a distribution, beside another implementation.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/oversleep-record/tests/fuzzed/checks.rs"]
mod checks;

fuzz_target!(|bytes: &[u8]| _ = checks::histogram(bytes));
