//! A frame limiter as games have it: a system that runs after each frame and sleeps for what is left of it.

use std::time::{Duration, Instant};

use oversleep::Pacer;
use oversleep_ports::{Figures, events, work};

struct FrameLimiter {
    pacer: Pacer,
}

impl FrameLimiter {
    fn per_second(rate: u32) -> FrameLimiter {
        FrameLimiter { pacer: Pacer::per_second(rate) }
    }

    fn limit(&mut self) {
        self.pacer.wait();
    }
}

fn main() {
    let mut limiter = FrameLimiter::per_second(500);
    let start = Instant::now();
    let mut figures = Figures::new();
    for _ in 0..events(1_000) {
        work(Duration::from_micros(300));
        limiter.limit();
        figures.on_grid(start, Duration::from_millis(2));
    }
    figures.print();
}
