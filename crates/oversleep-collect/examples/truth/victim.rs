//! Programs that wait, or keep others from running.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Starts another copy of this program as a victim or a hog.
pub fn command(what: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program has a file"));
    command.arg(format!("victim={what}"));
    command
}

/// The same through programs that set how it runs, which it replaces.
pub fn with(prefix: &[&str], what: &str) -> std::process::Command {
    let program = command(what);
    let mut command = std::process::Command::new(prefix[0]);
    command.args(&prefix[1..]).arg(program.get_program()).args(program.get_args());
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
