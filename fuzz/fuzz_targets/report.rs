//! A small result that bytes make and damage, in one of the forms that people read: terminal, page, pictures, comparison.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_report::testing::reports;

#[path = "../../crates/oversleep-lab/tests/damaged/uses.rs"]
mod uses;

fuzz_target!(|bytes: &[u8]| {
    let Some((&form, bytes)) = bytes.split_first() else { return };
    let Some((mut file, other)) = uses::small_pair(bytes) else { return };
    file.findings = oversleep_explain::findings(&file);
    reports::draw_one(form, file, other);
});
