//! A task that samples 2,000 times a second on tokio.

use std::time::{Duration, Instant};

use oversleep_ports::{Figures, events};
use tokio::time::{MissedTickBehavior, interval_at};

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let period = Duration::from_micros(500);
        let mut ticks = interval_at(tokio::time::Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let (start, mut figures) = (Instant::now(), Figures::new());
        for sample in 1..=events(2_000) {
            ticks.tick().await;
            figures.due(start + period * sample);
        }
        figures.print();
    });
}
