//! Words about a modelled machine: changes of its figures, questions, tunables, load, neighbours. Each is accepted or
//! refused with a reason.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_fuzz::{count, number, uses};

fuzz_target!(|input: (&str, &[u8])| {
    let (words, bytes) = input;
    let number = number(words.bytes().chain(bytes.iter().copied()));
    count(uses::ask_one(&uses::typed_by(bytes, words), number));
});
