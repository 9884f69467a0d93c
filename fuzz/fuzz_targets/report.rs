//! A good result with edits, in every form it is shown: on the terminal, as a page, as pictures, and held against another.
//!
//! The command is a program and no library: what it shows results with is compiled here once more, under the names it has
//! there.

#![no_main]
#![allow(dead_code, unused_imports)]

use libfuzzer_sys::fuzz_target;
use oversleep_record::testing::damaged;

#[path = "../../crates/oversleep-cli/src/html/mod.rs"]
mod html;
#[path = "../../crates/oversleep-cli/src/picture/mod.rs"]
mod picture;
#[path = "../../crates/oversleep-cli/src/testing/reports.rs"]
mod reports;
#[path = "../../crates/oversleep-cli/src/terminal/mod.rs"]
mod terminal;
#[path = "../../crates/oversleep-lab/tests/damaged/uses.rs"]
mod uses;
#[path = "../../crates/oversleep-cli/src/view/mod.rs"]
mod view;

fuzz_target!(init: { uses::good(); }, |bytes: &[u8]| {
    let Some((&first, edits)) = bytes.split_first() else { return };
    let good = uses::good();
    let good = &good[usize::from(first) % good.len()];
    let (Some(mut file), Some(other)) = (damaged(good, edits), damaged(good, &edits[..edits.len().min(4)])) else { return };
    file.findings = oversleep_lab::explain::findings(&file);
    reports::draw_all(&[other, file]);
});
