//! A small result that bytes make and damage: whatever it holds, it is explained and compared.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/oversleep-lab/tests/damaged/uses.rs"]
mod uses;

fuzz_target!(|bytes: &[u8]| {
    let Some((file, base)) = uses::small_pair(bytes) else { return };
    uses::explained(&file);
    uses::compared(&file, &base);
});
