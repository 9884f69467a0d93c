//! A game loop at exactly 144 Hz: after a slow frame it skips the frames that were missed, and keeps to the grid.
//!
//! `cargo run --release -p oversleep --example game_loop [FRAMES]`

use std::time::Duration;

use oversleep::{Clock, Missed, Pacer};

fn main() {
    let frames: u64 = std::env::args().nth(1).and_then(|frames| frames.parse().ok()).unwrap_or(72);
    let mut pacer = Pacer::per_second(144).on_missed(Missed::Skip);
    let mut lateness_ns = Vec::new();
    let mut position = 0.0;
    while pacer.next_deadline() <= pacer.deadline_of(frames) {
        let beat = pacer.wait();
        // The simulation advances by the periods that passed, however many frames were shown.
        position += (1 + beat.missed) as f64 / 144.0;
        render(position, beat.period == frames / 2);
        lateness_ns.push(beat.lateness_ns);
    }
    lateness_ns.sort_unstable();
    println!("{}", Clock::why());
    println!("{} frames shown, {} skipped, position {position:.3}", lateness_ns.len(), pacer.missed());
    if let Some(&median_ns) = lateness_ns.get(lateness_ns.len() / 2) {
        println!("lateness: median {median_ns} ns, max {} ns", lateness_ns[lateness_ns.len() - 1]);
    }
}

/// Simulates the work of a frame; a hard one takes three periods.
fn render(position: f64, hard: bool) {
    let work = if hard { Duration::from_millis(21) } else { Duration::from_micros(400) };
    let start = Clock::now();
    let mut pixel = position;
    while start.elapsed() < work {
        pixel = std::hint::black_box(pixel.sin());
    }
}
