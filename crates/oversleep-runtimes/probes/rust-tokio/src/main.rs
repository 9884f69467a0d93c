//! Waits as a program on tokio calls them. The protocol is in ../../PROTOCOL.md.

use std::future::pending;
use std::hint::black_box;
use std::time::Duration;

use tokio::time::{self, Instant};

const WAITS: &[&str] = &["tokio::time::sleep", "tokio::time::timeout", "tokio::time::interval"];
const CLOCK: &str = "tokio::time::Instant::now";

async fn wait(op: &str, span: Duration) {
    match op {
        "tokio::time::timeout" => assert!(time::timeout(span, pending::<()>()).await.is_err()),
        // The first tick of an interval ends at once, and an interval of zero panics.
        "tokio::time::interval" => {
            let mut interval = time::interval(span.max(Duration::from_nanos(1)));
            interval.tick().await;
            interval.tick().await;
        }
        _ => time::sleep(span).await,
    }
}

async fn measure(origin: Instant, op: &str, requested: u64, count: usize) {
    for _ in 0..3 {
        wait(op, Duration::from_micros(50)).await;
    }
    let now = || origin.elapsed().as_nanos() as u64;
    let (mut t, mut d) = (vec![0; count], vec![0; count]);
    for (t, d) in t.iter_mut().zip(&mut d) {
        *t = now();
        wait(op, Duration::from_nanos(requested)).await;
        *d = now() - *t;
    }
    let (t, d) = (list(&t), list(&d));
    println!(
        r#"{{"type":"s","op":"{op}","requested":{requested},"rounded":{requested},"n":{count},"unit":"ns","t":{t},"d":{d}}}"#
    );
}

fn clock(origin: Instant, count: usize) {
    const READS: usize = 1_000;
    let batch = || {
        let begun = Instant::now();
        for _ in 0..READS {
            black_box(Instant::now());
        }
        begun.elapsed().as_nanos() as u64
    };
    let d: Vec<u64> = (0..count).map(|_| batch()).collect();
    let (mut step, mut last) = (Vec::new(), origin.elapsed().as_nanos() as u64);
    for _ in 0..1_000 {
        let next = origin.elapsed().as_nanos() as u64;
        if next > last && step.len() < 16 {
            step.push(next - last);
        }
        last = next;
    }
    println!(r#"{{"type":"c","op":"{CLOCK}","n":{count},"reads":{READS},"d":{},"step":{}}}"#, list(&d), list(&step));
}

fn list(values: &[u64]) -> String {
    format!("{values:?}").replace(' ', "")
}

async fn run(origin: Instant, token: &str) {
    let mut parts = token.rsplitn(3, '@');
    let count = parts.next().and_then(|count| count.parse().ok()).unwrap_or(0);
    let requested = parts.next().and_then(|requested| requested.parse().ok()).unwrap_or(0);
    let op = parts.next().unwrap_or(token);
    if WAITS.contains(&op) {
        measure(origin, op, requested, count).await;
    } else if op == CLOCK {
        clock(origin, count);
    } else {
        println!(r#"{{"type":"skip","op":"{op}","why":"tokio has no such call"}}"#);
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime with timers");
    let origin = Instant::now();
    let now = || origin.elapsed().as_nanos() as u64;
    println!(
        r#"{{"type":"hello","proto":1,"runtime":"tokio","version":"1","clock":"Instant::now","pid":{},"now":{}}}"#,
        std::process::id(),
        now()
    );
    for token in std::env::args().skip(1) {
        if token == "list" {
            WAITS.iter().for_each(|op| println!(r#"{{"type":"op","op":"{op}","kind":"wait"}}"#));
            println!(r#"{{"type":"op","op":"{CLOCK}","kind":"clock"}}"#);
        } else {
            runtime.block_on(run(origin, &token));
        }
    }
    println!(r#"{{"type":"end","now":{}}}"#, now());
}
