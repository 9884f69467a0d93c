//! Words about a modelled machine: changes of its figures, questions, tunables, load, neighbours. Each is accepted or
//! refused with a reason.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_fuzz::{count, uses};

fuzz_target!(|input: (u8, &str, &[u8])| {
    let (choice, words, bytes) = input;
    count(uses::ask_one(&uses::typed_by(bytes, words), choice));
});
