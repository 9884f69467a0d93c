//! Any text as a duration: it is read or refused, and a duration that was read prints as one again.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/oversleep-record/tests/fuzzed/checks.rs"]
mod checks;

fuzz_target!(|bytes: &[u8]| {
    _ = checks::duration(bytes);
});
