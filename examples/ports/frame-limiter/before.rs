//! A frame limiter as games have it: a system that runs after each frame and sleeps for what is left of it.

use std::thread;
use std::time::{Duration, Instant};

use oversleep_ports::{Figures, events, work};

struct FrameLimiter {
    frame: Duration,
    next: Instant,
}

impl FrameLimiter {
    fn per_second(rate: u32) -> FrameLimiter {
        let frame = Duration::from_secs(1) / rate;
        FrameLimiter { frame, next: Instant::now() + frame }
    }

    fn limit(&mut self) {
        thread::sleep(self.next.saturating_duration_since(Instant::now()));
        // A frame that was late doesn't make the next one short.
        self.next = self.next.max(Instant::now() - self.frame) + self.frame;
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
