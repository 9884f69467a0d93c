//! The CPU time of an idle worker beside the back-offs of others, undisturbed and while the machine stops it: once for
//! 20 ms, and for 20 ms of every 100, as a CPU quota does.
//!
//! Bar: from 100 ms after the first stop on, at most 2 % of a core above what the same back-off uses undisturbed.

use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::{park_timeout, sleep, yield_now};
use std::time::{Duration, Instant};

use oversleep::Backoff;
use oversleep_benches::program::{output, words};
use oversleep_benches::report::figure;
use oversleep_benches::{Reason, Report, pairs, program, sys};

/// Tells this program to idle in this way; the parent stops it meanwhile.
const IDLE_AS: &str = "OVERSLEEP_BENCH_IDLES_AS";
/// How long a worker idles before its CPU time counts, and afterwards.
const BEFORE: Duration = Duration::from_millis(500);
const COUNTED: Duration = Duration::from_secs(3);
/// The worker is stopped for so long, in periods of so long.
const STOP: Duration = Duration::from_millis(20);
const PERIOD: Duration = Duration::from_millis(100);

const OURS: &str = "oversleep::Backoff";
const NAMES: [&str; 4] = [OURS, "crossbeam's Backoff", "Aeron's BackoffIdleStrategy", "park_timeout(1 µs)"];
const CONDITIONS: [(&str, u32); 3] =
    [("undisturbed", 0), ("stopped once for 20 ms", 1), ("stopped for 20 of every 100 ms", u32::MAX)];

fn main() -> ExitCode {
    match std::env::var(IDLE_AS) {
        Ok(name) => worker(&name),
        Err(_) => Report::run("library_backoff", "peer", compare),
    }
}

/// One idle turn of the back-off of this name.
fn turns(name: &str) -> Box<dyn FnMut()> {
    const MS: Duration = Duration::from_millis(1);
    match name {
        OURS => {
            let mut backoff = Backoff::new();
            Box::new(move || {
                backoff.idle();
            })
        }
        // As its documentation advises: it says when to block, for which a poll has only time.
        "crossbeam's Backoff" => {
            let backoff = crossbeam_utils::Backoff::new();
            Box::new(move || if backoff.is_completed() { park_timeout(MS) } else { backoff.snooze() })
        }
        // Its defaults: 10 spins, 5 yields, parks of 1 µs that double up to 1 ms.
        // https://github.com/aeron-io/agrona/blob/master/agrona/src/main/java/org/agrona/concurrent/BackoffIdleStrategy.java
        "Aeron's BackoffIdleStrategy" => {
            let (mut turn, mut park) = (0_u32, Duration::from_micros(1));
            Box::new(move || {
                turn = turn.saturating_add(1);
                match turn {
                    ..=10 => std::hint::spin_loop(),
                    11..=15 => yield_now(),
                    _ => {
                        park_timeout(park);
                        park = (park * 2).min(MS);
                    }
                }
            })
        }
        _ => Box::new(|| park_timeout(Duration::from_micros(1))),
    }
}

/// Idles, and prints the CPU time of what counts.
fn worker(name: &str) -> ExitCode {
    let (mut turn, start) = (turns(name), Instant::now());
    let mut before_ns = None;
    while start.elapsed() < BEFORE + PERIOD + COUNTED {
        turn();
        if before_ns.is_none() && start.elapsed() >= BEFORE + PERIOD {
            before_ns = sys::thread_cpu_ns();
        }
    }
    match before_ns.zip(sys::thread_cpu_ns()) {
        Some((before_ns, after_ns)) => {
            println!("{}", after_ns - before_ns);
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    }
}

/// The share of a core that such a worker uses while it is stopped so many times.
fn measure(name: &str, stops: u32) -> Result<f64, Reason> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut worker = Command::new(own);
    let worker = worker.env(IDLE_AS, name).stdin(Stdio::null()).stdout(Stdio::piped());
    let worker = worker.spawn().map_err(|error| format!("a worker could not be started: {error}"))?;
    let start = Instant::now();
    sleep(BEFORE);
    for stop in 0..stops.min(((PERIOD + COUNTED).as_millis() / PERIOD.as_millis()) as u32) {
        let due = start + BEFORE + PERIOD * stop;
        sleep(due.saturating_duration_since(Instant::now()));
        signal("STOP", &worker)?;
        sleep(STOP);
        signal("CONT", &worker)?;
    }
    let ended = worker.wait_with_output().map_err(|error| error.to_string())?;
    let cpu_ns = String::from_utf8_lossy(&ended.stdout).trim().parse::<f64>();
    Ok(cpu_ns.map_err(|_| "a worker reported no CPU time".to_owned())? / COUNTED.as_nanos() as f64)
}

fn signal(name: &str, worker: &Child) -> Result<(), Reason> {
    let kill = program::find("kill").ok_or("`kill` isn't on the search path")?;
    output(&kill, &words(&format!("-{name} {}", worker.id()))).map(drop)
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    if !cfg!(unix) {
        report.skip("there are no signals that stop a process");
        return Ok(());
    }
    let rounds = report.pairs(5);
    let mut shares = vec![[const { Vec::new() }; CONDITIONS.len()]; NAMES.len()];
    for round in 1..=rounds {
        report.progress(&format!("idle workers, round {round} of {rounds}"));
        for (at, (_, stops)) in CONDITIONS.into_iter().enumerate() {
            for (name, shares) in NAMES.into_iter().zip(&mut shares) {
                shares[at].push(measure(name, stops)?);
            }
        }
    }
    let percent = |shares: &Vec<f64>| pairs::median(shares).unwrap_or(0.0) * 100.0;
    report.say_measured(&format!("\nCPU time of an idle worker, % of a core, medians of {rounds} runs of 3 s each"));
    for (name, shares) in NAMES.into_iter().zip(&shares) {
        let columns =
            CONDITIONS.iter().zip(shares).map(|((of, _), shares)| format!("{of} {}", figure(percent(shares))));
        report.say(&format!("  {name}: {}", columns.collect::<Vec<_>>().join(", ")));
    }
    let [idle, once, periodic] = shares[0].each_ref().map(percent);
    report.judge("ours, stopped once, at most 2 % of a core above undisturbed", once <= idle + 2.0);
    report.judge("ours, stopped periodically, at most 2 % of a core above undisturbed", periodic <= idle + 2.0);
    Ok(())
}
