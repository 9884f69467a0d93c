//! Any bytes as a result file: they are read or refused; a file that was read can be written and read again as the same,
//! and every figure in it is in its payload. `schema/golden/` holds good seeds.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use oversleep_fuzz::checks::{self, Checks};
use oversleep_fuzz::count;
use oversleep_record::testing::{damaged_text, made};

fuzz_target!(|bytes: &[u8]| {
    count(checks::result_file(bytes, Checks::chosen_by(bytes)));
});

// Bytes changed anywhere end at the parser, nearly all of them. So some inputs are made, and some edits keep to numbers and
// entries.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let bytes: Vec<u8> = (0..8_u32).flat_map(|step| seed.wrapping_mul(step * 2 + 0x9e37_79b1).to_le_bytes()).collect();
    let text = match seed % 8 {
        0..3 => made(&bytes).write(),
        3..6 => damaged_text(data[..size].to_vec(), &bytes[..6]),
        _ => return fuzzer_mutate(data, size, max_size),
    };
    let length = text.len().min(max_size);
    data[..length].copy_from_slice(&text[..length]);
    length
});
