//! A good result with edits: whatever it holds, it is explained, compared, and its machine modelled.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_record::testing::damaged;

#[path = "../../crates/oversleep-lab/tests/damaged/uses.rs"]
mod uses;

fuzz_target!(init: { uses::good(); }, |bytes: &[u8]| {
    let Some((&first, edits)) = bytes.split_first() else { return };
    let good = uses::good();
    let good = &good[usize::from(first) % good.len()];
    let Some(file) = damaged(good, edits) else { return };
    uses::explained(&file);
    let base = damaged(good, &edits[..edits.len().min(4)]);
    uses::compared(&file, base.as_ref().unwrap_or(&file));
    uses::modelled(&file);
});
