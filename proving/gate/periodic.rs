//! A loop with a period of 5 ms, as many are: it sleeps for what its work has left of it. `work` takes 1 ms more.

use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    let plants = std::env::args().any(|word| word == "work");
    let (mut sum, mut next) = (1_u64, Instant::now());
    for _ in 0..200 {
        (0..2_000).for_each(|at| sum = black_box(sum.wrapping_mul(31).wrapping_add(at)));
        let begun = Instant::now();
        while plants && begun.elapsed() < Duration::from_millis(1) {}
        next += Duration::from_millis(5);
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}
