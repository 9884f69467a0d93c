//! A small result that bytes make and alter, in one of the forms that people read: terminal, page, pictures, comparison.
//! In one input of eight the figures that are shown are compared with the payloads of the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_fuzz::{count, shown, uses};
use oversleep_report::testing::reports;

fuzz_target!(|bytes: &[u8]| {
    let Some((&form, bytes)) = bytes.split_first() else { return count(false) };
    let pair = uses::small_pair(bytes);
    count(pair.is_some());
    let Some((mut file, other)) = pair else { return };
    match form >> 5 {
        7 => _ = shown::are_in_the_file(&file),
        _ => {
            file.findings = oversleep_explain::findings(&file);
            reports::draw_one(form, file, other);
        }
    }
});
