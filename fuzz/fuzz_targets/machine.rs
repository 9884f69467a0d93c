//! Words about a modelled machine: changes of its figures, questions, tunables, load, neighbours. Each is accepted or
//! refused with a reason.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/oversleep-lab/tests/damaged/uses.rs"]
mod uses;

fuzz_target!(|input: (&str, &[u8])| {
    let (words, bytes) = input;
    uses::ask_each(&uses::typed_by(bytes, words));
});
