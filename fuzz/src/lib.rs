//! What the targets share: the checks, which are those of the ordinary tests, and a count of the inputs that come past
//! the reader.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

#[path = "../../crates/oversleep-record/tests/fuzzed/checks.rs"]
pub mod checks;
#[path = "../../crates/oversleep-report/tests/figures/read_back.rs"]
pub mod read_back;
#[path = "../../crates/oversleep-lab/tests/damaged/uses.rs"]
pub mod uses;

/// How many inputs lie between two lines of counts; none are printed without this variable.
const VARIABLE: &str = "OVERSLEEP_FUZZ_COUNTS";

/// Counts an input, and prints the counts now and then.
pub fn count(is_past_the_reader: bool) {
    static EVERY: LazyLock<Option<u64>> =
        LazyLock::new(|| std::env::var(VARIABLE).ok()?.parse().ok().filter(|&every| every > 0));
    static INPUTS: AtomicU64 = AtomicU64::new(0);
    static PAST: AtomicU64 = AtomicU64::new(0);
    let Some(every) = *EVERY else { return };
    let past = PAST.fetch_add(u64::from(is_past_the_reader), Ordering::Relaxed) + u64::from(is_past_the_reader);
    let inputs = INPUTS.fetch_add(1, Ordering::Relaxed) + 1;
    if inputs.is_multiple_of(every) {
        eprintln!("counts: {inputs} inputs, {past} past the reader ({:.1} %)", past as f64 / inputs as f64 * 100.0);
    }
}

/// A number that all bytes of an input decide, for targets that do one thing of many. If one byte decided, what is slow
/// would be in most of the inputs that the fuzzer keeps.
pub fn number(bytes: impl IntoIterator<Item = u8>) -> u32 {
    let sum = bytes.into_iter().fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    sum ^ (sum >> 16)
}
