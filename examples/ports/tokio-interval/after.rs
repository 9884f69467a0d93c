//! A task that samples 2,000 times a second on tokio.

use std::time::{Duration, Instant};

use oversleep::Missed;
use oversleep_async::interval;
use oversleep_ports::{Figures, events};

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let period = Duration::from_micros(500);
        let mut ticks = interval(period).on_missed(Missed::CatchUp);
        let (start, mut figures) = (Instant::now(), Figures::new());
        for sample in 1..=events(2_000) {
            ticks.tick().await;
            figures.due(start + period * sample);
        }
        figures.print();
    });
}
