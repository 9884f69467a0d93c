//! An audio-style pacer: 48,000 samples a second in blocks of 128. None may be lost, so a late loop catches up. It
//! first requests finer timing, and prints the outcome.
//!
//! `cargo run --release -p oversleep --example audio_pacer [BLOCKS]`

use std::time::Duration;

use oversleep::{Missed, Pacer, Resolution};

const BLOCK: u64 = 128;

fn main() {
    let blocks: u64 = std::env::args().nth(1).and_then(|blocks| blocks.parse().ok()).unwrap_or(200);
    // Most users are denied real-time scheduling; the loop runs anyway.
    let held = Resolution::harmless().real_time(60).hold();
    for setting in held.settings() {
        println!("{setting}");
    }
    // 48,000 / 128 = 375 blocks a second.
    let mut pacer = Pacer::per_second(375).on_missed(Missed::CatchUp);
    let (mut samples, mut underruns, mut max_ns) = (0, 0, 0);
    for _ in 0..blocks {
        let beat = pacer.wait();
        if beat.lateness_ns > 2_666_667 {
            underruns += 1;
        }
        max_ns = max_ns.max(beat.lateness_ns);
        samples += BLOCK;
    }
    let span = Duration::from_nanos(pacer.deadline_of(blocks).nanos_since(pacer.start()).unsigned_abs());
    println!("{samples} samples in {span:?}, {underruns} underruns, max lateness {max_ns} ns");
}
