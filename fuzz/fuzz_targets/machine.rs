//! Words about a modelled machine: changes of its figures, questions, tunables, load, neighbours. Each is accepted or
//! refused with a reason.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_fuzz::{count, uses};

fuzz_target!(|input: (&str, &[u8])| {
    let (words, bytes) = input;
    // Of all the bytes: what is slow would otherwise be in most of the inputs that the fuzzer keeps.
    let number = words.bytes().chain(bytes.iter().copied());
    let number = number.fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    count(uses::ask_one(&uses::typed_by(bytes, words), number ^ (number >> 16)));
});
