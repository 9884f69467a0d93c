//! A good result with edits, in every form that people read: terminal, page, pictures, and compared with another.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_record::testing::damaged;
use oversleep_report::testing::reports;

#[path = "../../crates/oversleep-lab/tests/damaged/uses.rs"]
mod uses;

fuzz_target!(init: { uses::good(); }, |bytes: &[u8]| {
    let Some((&first, edits)) = bytes.split_first() else { return };
    let good = uses::good();
    let good = &good[usize::from(first) % good.len()];
    let (Some(mut file), Some(other)) = (damaged(good, edits), damaged(good, &edits[..edits.len().min(4)])) else { return };
    file.findings = oversleep_explain::findings(&file);
    reports::draw_all(&[other, file]);
});
