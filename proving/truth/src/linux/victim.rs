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

/// The last CPU, for what is measured; whoever measures is on the first one, if there are two.
pub fn cpu() -> &'static str {
    static CPU: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    CPU.get_or_init(|| (std::thread::available_parallelism().map_or(1, usize::from) - 1).to_string())
}

/// Whether `chrt` is there; the small systems that other kernels are tried with have none, and nothing else runs on them.
fn has_chrt() -> bool {
    static HAS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *HAS.get_or_init(|| std::process::Command::new("chrt").arg("-m").output().is_ok())
}

/// On that CPU, before whatever else runs there.
pub fn before_others() -> Vec<&'static str> {
    let further: &[&str] = if has_chrt() { &["chrt", "-f", "10"] } else { &[] };
    ["taskset", "-c", cpu()].iter().chain(further).copied().collect()
}

/// On that CPU, after what runs before others, and before the rest.
pub fn after_it() -> Vec<&'static str> {
    // The small systems have no `nice` either.
    const NICE: [&str; 3] = ["sh", "-c", "renice -n 19 -p $$ >/dev/null; exec \"$0\" \"$@\""];
    let further: &[&str] = if has_chrt() { &["chrt", "-f", "5"] } else { &NICE };
    ["taskset", "-c", cpu()].iter().chain(further).copied().collect()
}

/// A task that keeps that CPU from being idle, and gives way to everything; small systems need none, time is exact there.
pub fn keeps_busy() -> Option<std::process::Command> {
    has_chrt().then(|| with(&["taskset", "-c", cpu(), "nice", "-n", "19"], "bursts:1000000"))
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
        // The shortest waits that there are.
        "slack-waits" => {
            std::fs::write("/proc/self/timerslack_ns", "1").expect("root may set its slack");
            waits(Duration::from_nanos(number));
        }
        // That many threads, each of which waits 1,000 times a second.
        "paced" => {
            let threads: Vec<_> = (0..number).map(|_| std::thread::spawn(paced)).collect();
            threads.into_iter().for_each(|thread| drop(thread.join()));
        }
        // That many threads that wait for a second at a time.
        "threads" => {
            let wait = || waits(Duration::from_secs(1));
            for _ in 0..number {
                let thread = std::thread::Builder::new().stack_size(65_536).spawn(wait);
                thread.expect("a thread can be started");
            }
            waits(Duration::from_secs(1));
        }
        // That many waits of 1 ms after a while, and the median of how long they took.
        "lap" => {
            sleep(Duration::from_millis(1_500));
            let one = |_| {
                let began = Instant::now();
                sleep(Duration::from_millis(1));
                began.elapsed().as_nanos() as i64
            };
            println!("{}", super::observe::median((0..number).map(one)));
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
        // A thread that waits, and then wakes another one, which would wait for a second.
        "hands-over" => hands_over(Duration::from_micros(number)),
        // Two threads that wake each other, so that one of them always sets a timer.
        "sets-timers" => sets_timers(),
        // Follows others from within the namespace that it is in.
        "looks" => match super::scenarios::look() {
            Ok(text) => println!("ok: {text}"),
            Err(text) => println!("{text}"),
        },
        // Opens a collector and says what came of it, and one that follows everything until it is killed.
        "opens" => println!("{}", super::scenarios::opens()),
        "follows" => super::scenarios::follows(),
        other => panic!("no victim is called {other}"),
    }
}

fn waits(span: Duration) {
    loop {
        sleep(span);
    }
}

fn sets_timers() {
    let (first, here) = (std::thread::current(), std::thread::park_timeout);
    let other = std::thread::spawn(move || {
        loop {
            first.unpark();
            here(Duration::from_secs(100));
        }
    });
    loop {
        here(Duration::from_secs(100));
        other.thread().unpark();
    }
}

fn hands_over(span: Duration) {
    let waiter = std::thread::spawn(|| {
        loop {
            std::thread::park_timeout(Duration::from_secs(1));
        }
    });
    loop {
        sleep(span);
        waiter.thread().unpark();
    }
}

fn paced() {
    let mut next = Instant::now();
    loop {
        next += Duration::from_millis(1);
        let now = Instant::now();
        // What was missed is not made up for.
        next = next.max(now);
        sleep(next - now);
    }
}

fn spin(span: Duration) {
    let began = Instant::now();
    while began.elapsed() < span {
        std::hint::spin_loop();
    }
}
