//! A consumer that backs off while its queue is empty.

use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use oversleep_ports::{Figures, events};

mod spinning;
use spinning::Backoff;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let count = events(1_000);
    let producer = thread::spawn(move || {
        for _ in 0..count {
            thread::sleep(Duration::from_millis(1));
            sender.send(Instant::now()).expect("the consumer waits for all of them");
        }
    });
    let mut backoff = Backoff::default();
    let mut figures = Figures::new();
    loop {
        match receiver.try_recv() {
            Ok(sent) => {
                figures.due(sent);
                backoff.reset();
            }
            Err(TryRecvError::Empty) => backoff.snooze(),
            Err(TryRecvError::Disconnected) => break,
        }
    }
    producer.join().expect("the producer doesn't panic");
    figures.print();
}
