//! Waits and clocks as a Rust program calls them. The protocol is in ../PROTOCOL.md.

use std::hint::black_box;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The first calls of a process meet cold caches.
const WARM_UP_WAITS: usize = 3;

struct Probe {
    origin: Instant,
    never: Condvar,
    mutex: Mutex<()>,
    channel: (Sender<()>, Receiver<()>),
}

type Wait = fn(&Probe, Duration);
type Clock = fn(&Probe) -> u64;

const WAITS: &[(&str, Wait)] = &[
    ("thread::sleep", |_, span| thread::sleep(span)),
    ("thread::park_timeout", |_, span| thread::park_timeout(span)),
    ("Condvar::wait_timeout", |probe, span| {
        let guard = probe.mutex.lock().unwrap();
        drop(probe.never.wait_timeout_while(guard, span, |()| true).unwrap());
    }),
    ("mpsc::recv_timeout", |probe, span| assert!(probe.channel.1.recv_timeout(span).is_err())),
];

const CLOCKS: &[(&str, Clock)] = &[
    ("Instant::now", Probe::now),
    ("SystemTime::now", |_| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, nanos)),
];

fn nanos(span: Duration) -> u64 {
    span.as_nanos() as u64
}

impl Probe {
    fn now(&self) -> u64 {
        nanos(self.origin.elapsed())
    }

    fn wait(&self, op: &str, wait: Wait, requested: u64, count: usize) {
        (0..WARM_UP_WAITS).for_each(|_| wait(self, Duration::from_micros(50)));
        let (mut t, mut d) = (vec![0; count], vec![0; count]);
        for (t, d) in t.iter_mut().zip(&mut d) {
            *t = self.now();
            wait(self, Duration::from_nanos(requested));
            *d = self.now() - *t;
        }
        println!(
            r#"{{"type":"s","op":"{op}","requested":{requested},"rounded":{requested},"n":{count},"unit":"ns","t":{},"d":{}}}"#,
            list(&t),
            list(&d)
        );
    }

    fn clock(&self, op: &str, clock: Clock, count: usize) {
        const READS: usize = 1_000;
        let batch = || {
            let begun = self.now();
            for _ in 0..READS {
                black_box(clock(self));
            }
            self.now() - begun
        };
        let d: Vec<u64> = (0..count).map(|_| batch()).collect();
        let (mut step, mut last, until) = (Vec::new(), clock(self), self.now() + 40_000_000);
        while step.len() < 16 && self.now() < until {
            let next = clock(self);
            if next > last {
                step.push(next - last);
            }
            last = next;
        }
        println!(
            r#"{{"type":"c","op":"{op}","n":{count},"reads":{READS},"d":{},"step":{}}}"#,
            list(&d),
            list(&step)
        );
    }

    fn run(&self, token: &str) {
        let mut parts = token.rsplitn(3, '@');
        let count = parts.next().and_then(|count| count.parse().ok()).unwrap_or(0);
        let requested = parts.next().and_then(|requested| requested.parse().ok()).unwrap_or(0);
        let op = parts.next().unwrap_or(token);
        if let Some((name, wait)) = WAITS.iter().find(|(name, _)| *name == op) {
            self.wait(name, *wait, requested, count);
        } else if let Some((name, clock)) = CLOCKS.iter().find(|(name, _)| *name == op) {
            self.clock(name, *clock, count);
        } else {
            println!(r#"{{"type":"skip","op":"{op}","why":"Rust has no such call"}}"#);
        }
    }
}

fn list(values: &[u64]) -> String {
    format!("{values:?}").replace(' ', "")
}

fn main() {
    let probe = Probe { origin: Instant::now(), never: Condvar::new(), mutex: Mutex::new(()), channel: mpsc::channel() };
    let version = option_env!("OVERSLEEP_VERSION").unwrap_or("?");
    println!(
        r#"{{"type":"hello","proto":1,"runtime":"rust","version":"{version}","clock":"Instant::now","pid":{},"now":{}}}"#,
        std::process::id(),
        probe.now()
    );
    for token in std::env::args().skip(1) {
        if token == "list" {
            WAITS.iter().for_each(|(op, _)| println!(r#"{{"type":"op","op":"{op}","kind":"wait"}}"#));
            CLOCKS.iter().for_each(|(op, _)| println!(r#"{{"type":"op","op":"{op}","kind":"clock"}}"#));
        } else {
            probe.run(&token);
        }
    }
    println!(r#"{{"type":"end","now":{}}}"#, probe.now());
}
