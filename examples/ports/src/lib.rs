//! What the ports measure, before and after alike.

use std::time::{Duration, Instant};

/// Figures of a run: lateness of each event, and what the whole run cost.
#[derive(Debug)]
pub struct Figures {
    start: Instant,
    cpu_start: Option<Duration>,
    lateness: Vec<Duration>,
}

impl Figures {
    /// Starts the clocks.
    #[allow(clippy::new_without_default, reason = "it reads clocks")]
    pub fn new() -> Figures {
        Figures { start: Instant::now(), cpu_start: thread_cpu(), lateness: Vec::new() }
    }

    /// Adds an event that was due then.
    pub fn due(&mut self, due: Instant) {
        self.lateness.push(due.elapsed());
    }

    /// Adds an event that was due on a grid, by how far it is from the nearest point of that.
    pub fn on_grid(&mut self, start: Instant, period: Duration) {
        let after_ns = start.elapsed().as_nanos() % period.as_nanos();
        self.lateness.push(Duration::from_nanos(after_ns.min(period.as_nanos() - after_ns) as u64));
    }

    /// Prints the figures, with the CPU time of this thread.
    pub fn print(mut self) {
        let (duration, cpu) = (self.start.elapsed(), thread_cpu());
        self.lateness.sort_unstable();
        let count = self.lateness.len();
        let at = |share: f64| self.lateness[((count as f64 * share) as usize).min(count - 1)].as_nanos() as f64 / 1e3;
        let (p50, p99, max) = (at(0.5), at(0.99), at(1.0));
        print!("{count} in {:.3} s; lateness p50 {p50:.1}, p99 {p99:.1}, max {max:.1} µs", duration.as_secs_f64());
        match cpu.zip(self.cpu_start).map(|(now, start)| now - start) {
            Some(cpu) => println!("; CPU {:.1} %", cpu.as_secs_f64() / duration.as_secs_f64() * 100.0),
            None => println!("; CPU time not available: only read on Linux"),
        }
    }
}

/// The CPU time of this thread, on Linux.
fn thread_cpu() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// How many events a run has: the program's first argument, or this many.
pub fn events(default: u32) -> u32 {
    std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(default).max(1)
}

/// Work that takes this long.
pub fn work(duration: Duration) {
    let start = Instant::now();
    while start.elapsed() < duration {
        std::hint::spin_loop();
    }
}
