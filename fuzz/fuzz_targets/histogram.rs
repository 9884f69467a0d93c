//! Any counts in a well-formed envelope as a distribution, beside another implementation.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_fuzz::checks::{self, Checks};
use oversleep_fuzz::count;

fuzz_target!(|bytes: &[u8]| {
    count(checks::histogram(bytes, Checks::chosen_by(bytes)));
});
