//! A small result that bytes make and alter, written and read back as the same; or its text is damaged, and read or
//! refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_fuzz::checks::{self, Checks};
use oversleep_fuzz::count;

fuzz_target!(|bytes: &[u8]| {
    count(checks::made_and_damaged(bytes, Checks::chosen_by(bytes)));
});
