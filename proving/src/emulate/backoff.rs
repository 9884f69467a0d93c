//! Back-off strategies on a tick: a worker that spins, yields and parks as Aeron and the LMAX Disruptor do hears of an item
//! a tick late, and the library's own doesn't. The worker is emulated; the producer is not, since two programs on one tick
//! wake together and would hide that. Its items come at intervals that have no common multiple with a tick.

use std::os::unix::net::UnixDatagram;
use std::process::{ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::{Bench, Verdict};

/// Strategies, and whether a tick of 15.6 ms makes them late.
const STRATEGIES: [(&str, bool); 3] = [("aeron", true), ("disruptor", true), ("oversleep", false)];
/// Items of a run, and the time between two.
const ITEMS: u32 = 300;
const BETWEEN: Duration = Duration::from_micros(10_700);
/// A strategy collapses if its median is at least this late, a fifth of a tick. The others stay below.
const COLLAPSED_US: f64 = 3_000.0;
/// The word that this program is called with as a worker.
pub const WORKER: &str = "backoff-worker";

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    println!("from an item's being sent to its worker's having it, µs; natively and on {}", super::MACHINE);
    let mut is_fine = true;
    for (strategy, collapses) in STRATEGIES.into_iter().filter(|(strategy, _)| bench.wants("backoff", strategy)) {
        let native = latencies(bench, None, strategy)?;
        let emulated = latencies(bench, Some(&[]), strategy)?;
        let [native, emulated] = [native, emulated].map(|mut spans| {
            spans.sort_by(f64::total_cmp);
            [spans.len() / 2, spans.len() * 9 / 10].map(|at| spans[at])
        });
        let is_so = native[0] < COLLAPSED_US && (emulated[0] >= COLLAPSED_US) == collapses;
        is_fine &= is_so;
        println!(
            "  {strategy}: p50 {:.0} → {:.0}, p90 {:.0} → {:.0}; it should {}: {}",
            native[0],
            emulated[0],
            native[1],
            emulated[1],
            if collapses { "collapse" } else { "stay" },
            if is_so { "ok" } else { "NOT SO" }
        );
    }
    Ok(if is_fine { Verdict::Holds } else { Verdict::Fails })
}

/// Sends items to a worker with that strategy; how long each took to reach it, in µs.
fn latencies(bench: &Bench, options: Option<&[&str]>, strategy: &str) -> Result<Vec<f64>, String> {
    let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
    let own = std::env::current_exe().map_err(|error| failed("this program", error))?;
    let path = bench.folder.join("backoff.socket");
    let _ = std::fs::remove_file(&path);
    let words = [&own.display().to_string(), "emulate", WORKER, strategy, &path.display().to_string()];
    let mut worker = bench.program(options, &words.map(str::to_owned));
    let worker = worker.stdout(Stdio::piped()).spawn().map_err(|error| failed("the worker", error))?;
    let begun = Instant::now();
    while !path.exists() {
        if begun.elapsed() > Duration::from_secs(20) {
            return Err(format!("the worker '{strategy}' doesn't begin"));
        }
        thread::sleep(Duration::from_millis(5));
    }
    let socket = UnixDatagram::unbound().map_err(|error| failed("a socket", error))?;
    let mut next = Instant::now() + Duration::from_millis(100);
    for _ in 0..ITEMS {
        thread::sleep(next.saturating_duration_since(Instant::now()));
        next += BETWEEN;
        socket.send_to(&now_ns().to_le_bytes(), &path).map_err(|error| failed("an item", error))?;
    }
    let output = worker.wait_with_output().map_err(|error| failed("the worker", error))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let spans: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    if spans.len() == ITEMS as usize { Ok(spans) } else { Err(format!("{} items of {ITEMS} came", spans.len())) }
}

/// The time of day, which two processes share.
fn now_ns() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |span| span.as_nanos() as u64)
}

/// The worker: polls for items, is idle between them, and prints how long each took.
pub fn worker(args: &[String]) -> Result<ExitCode, String> {
    let [strategy, path] = args else { return Err(format!("{WORKER} takes a strategy and a path")) };
    let mut idle: Box<dyn FnMut(u32)> = match &**strategy {
        // 10 spins, 5 yields, parks of 1 µs, twice as long each time, up to 1 ms.
        "aeron" => Box::new(|turn| match turn {
            0..10 => std::hint::spin_loop(),
            10..15 => thread::yield_now(),
            _ => thread::park_timeout(Duration::from_micros(1 << (turn - 15).min(10)).min(Duration::from_millis(1))),
        }),
        // 100 spins, 100 yields, parks of 100 ns.
        "disruptor" => Box::new(|turn| match turn {
            0..100 => std::hint::spin_loop(),
            100..200 => thread::yield_now(),
            _ => thread::park_timeout(Duration::from_nanos(100)),
        }),
        "oversleep" => {
            let mut backoff = oversleep::Backoff::new();
            Box::new(move |turn| {
                if turn == 0 {
                    backoff.reset();
                }
                backoff.idle();
            })
        }
        other => return Err(format!("no strategy is named `{other}`")),
    };
    let socket = UnixDatagram::bind(path).map_err(|error| format!("{path}: {error}"))?;
    socket.set_nonblocking(true).map_err(|error| error.to_string())?;
    let (mut spans, mut turn, mut item) = (Vec::new(), 0, [0; 8]);
    while spans.len() < ITEMS as usize {
        if socket.recv(&mut item).is_ok() {
            spans.push(now_ns().saturating_sub(u64::from_le_bytes(item)) as f64 / 1_000.0);
            turn = 0;
        } else {
            idle(turn);
            turn += 1;
        }
    }
    spans.iter().for_each(|span| println!("{span}"));
    Ok(ExitCode::SUCCESS)
}
