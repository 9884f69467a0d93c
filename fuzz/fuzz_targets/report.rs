//! A small result that bytes make and alter, in one of the forms that people read: terminal, page, pictures, comparison.
//! In one input of sixteen the figures that are shown are compared with the payloads of the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_fuzz::{count, number, read_back, uses};
use oversleep_report::testing::reports;

fuzz_target!(|bytes: &[u8]| {
    let pair = uses::small_pair(bytes);
    count(pair.is_some());
    let Some((mut file, other)) = pair else { return };
    let number = number(bytes.iter().copied());
    if number.is_multiple_of(16) {
        read_back::are_in_the_file(&file);
    } else {
        file.findings = oversleep_explain::findings(&file);
        reports::draw_one((number >> 8) as u8, file, other);
    }
});
