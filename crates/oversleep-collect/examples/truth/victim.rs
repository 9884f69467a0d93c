//! Programs that wait, or keep others from running.

use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

/// Starts another copy of this program as a victim or a hog.
pub fn command(what: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program has a file"));
    command.arg(format!("victim={what}"));
    command
}

pub fn run(what: &str) {
    let (kind, number) = what.split_once(':').unwrap_or((what, "0"));
    let number: u64 = number.parse().unwrap_or(0);
    match kind {
        // Waits of 1 ms with that slack.
        "slack" => {
            std::fs::write("/proc/self/timerslack_ns", number.to_string()).expect("root may set its slack");
            waits(Duration::from_millis(1));
        }
        "waits" => waits(Duration::from_micros(number)),
        "yields" => {
            let cpus = std::thread::available_parallelism().map_or(1, usize::from);
            for _ in 0..2 * cpus {
                std::thread::spawn(|| {
                    loop {
                        yield_now();
                    }
                });
            }
            sleep(Duration::from_secs(600));
        }
        // Bursts of that many ms, with as much rest.
        "bursts" => loop {
            spin(Duration::from_millis(number));
            sleep(Duration::from_millis(number));
        },
        // Works for most of the time, so a quota stops it.
        "works" => loop {
            spin(Duration::from_micros(number));
            sleep(Duration::from_micros(100));
        },
        other => panic!("no victim is called {other}"),
    }
}

fn waits(span: Duration) {
    loop {
        sleep(span);
    }
}

fn spin(span: Duration) {
    let began = Instant::now();
    while began.elapsed() < span {
        std::hint::spin_loop();
    }
}
