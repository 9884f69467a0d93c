//! A consumer that spins, then yields, then parks while its queue is empty. The producer unparks it.
//!
//! `cargo run --release -p oversleep --example queue_consumer [ITEMS]`

use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::Duration;

use oversleep::backoff::{Backoff, Idled};
use oversleep::{Clock, Instant, TimerSlack};

fn main() {
    let items: u32 = std::env::args().nth(1).and_then(|items| items.parse().ok()).unwrap_or(300);
    let (sender, receiver) = mpsc::channel();
    let consumer = thread::spawn(move || consume(&receiver));
    for i in 0..items {
        // Items come in bursts of ten, half a millisecond apart.
        if i % 10 == 0 {
            oversleep::sleep(Duration::from_micros(500));
        }
        sender.send(Clock::now_ordered()).expect("the consumer runs until the queue is closed");
        consumer.thread().unpark();
    }
    drop(sender);
    let mut seen = consumer.join().expect("the consumer doesn't panic");
    seen.lateness_ns.sort_unstable();
    println!("{} items, {} idle turns, {} parks", seen.lateness_ns.len(), seen.idle_turns, seen.parks);
    if let Some(&median_ns) = seen.lateness_ns.get(seen.lateness_ns.len() / 2) {
        println!("hand-off: median {median_ns} ns; parks were up to {:?} late", seen.park_lateness);
    }
}

#[derive(Default)]
struct Seen {
    lateness_ns: Vec<i64>,
    idle_turns: u64,
    parks: u64,
    park_lateness: Option<Duration>,
}

fn consume(queue: &Receiver<Instant>) -> Seen {
    // A park is a wait too, and ends sooner without slack.
    let _slack = TimerSlack::hold(Duration::from_nanos(1));
    let (mut backoff, mut seen) = (Backoff::new(), Seen::default());
    loop {
        match queue.try_recv() {
            Ok(sent) => {
                seen.lateness_ns.push(Clock::now_ordered().nanos_since(sent));
                backoff.reset();
            }
            Err(TryRecvError::Empty) => {
                seen.idle_turns += 1;
                if let Idled::Parked { .. } = backoff.idle() {
                    seen.parks += 1;
                }
            }
            Err(TryRecvError::Disconnected) => {
                seen.park_lateness = backoff.park_lateness();
                return seen;
            }
        }
    }
}
