//! Any text as a duration: it is read or refused, and a duration that was read prints as one again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_fuzz::checks::{self, Checks};
use oversleep_fuzz::count;

fuzz_target!(|bytes: &[u8]| {
    count(checks::duration(bytes, Checks::All));
});
