//! A small result that bytes make and alter: whatever it holds, it is explained, compared with another and with itself.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_fuzz::{count, uses};

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return count(false) };
    let pair = uses::small_pair(bytes);
    count(pair.is_some());
    let Some((file, base)) = pair else { return };
    match choice % 4 {
        0 => uses::compared(&file, &base),
        1 => uses::compared_with_itself(&file),
        _ => uses::explained(&file),
    }
});
