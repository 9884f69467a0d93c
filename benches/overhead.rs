//! What the laboratory's interface adds to the calls it times, compared with bare loops of the same calls in one
//! process.
//!
//! Bars: a clock read costs at most 1.05 times as much as in a bare loop, and the lateness of periodic waits is within
//! 10 % of that of a bare loop of `clock_nanosleep`.

use std::process::ExitCode;

use oversleep_benches::lab::{self, Conditions};
use oversleep_benches::ours::{Run, WAIT};
use oversleep_benches::pairs::quantile;
use oversleep_benches::{Bar, Pairs, Reason, Report, sys};

/// The number of batches of the laboratory's A1.
const BATCHES: usize = 100;
/// The laboratory spreads its waits over this many rounds, each on a fresh thread.
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    Report::run("overhead", "bare loop", compare)
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    for clock in ["monotonic", "tsc"] {
        clock_cost(report, clock);
    }
    let (conditions, refused) = Conditions::to_compare(&report.machine);
    for reason in refused {
        report.skip(&reason);
    }
    for conditions in &conditions {
        lateness(report, conditions)?;
    }
    Ok(())
}

fn clock_cost(report: &mut Report, clock: &str) {
    let mut pairs = Pairs::default();
    for _ in 0..report.pairs(15) {
        match (lab::clock_cost_ns(clock), sys::clock_cost_ns(clock, BATCHES)) {
            (Ok(ours), Ok(bare)) => pairs.push(ours, bare),
            (Err(reason), _) | (_, Err(reason)) => return report.skip(&reason),
        }
    }
    report.compare(&format!("cost of a read, {clock}"), "ns", &pairs, Bar::RatioAtMost(1.05));
}

fn lateness(report: &mut Report, conditions: &Conditions) -> Result<(), Reason> {
    let count = report.count(1_500).min(100_000);
    let shares = [("p50", 0.5), ("p99", 0.99)];
    let mut results = shares.map(|_| Pairs::default());
    for _ in 0..report.pairs(9) {
        let mut ours = Run::of(&lab::periodic(WAIT, conditions, count)?)?.recorded_ns;
        let mut bare = bare_rounds(conditions, count)?;
        for ((_, share), result) in shares.iter().zip(&mut results) {
            if let (Some(ours), Some(bare)) = (quantile(&mut ours, *share), quantile(&mut bare, *share)) {
                result.push(ours as f64 / 1e3, bare as f64 / 1e3);
            }
        }
    }
    for ((name, _), result) in shares.iter().zip(&results) {
        let title = format!("lateness, 1 ms, {}, {name} of {count} waits", conditions.policy());
        report.compare(&title, "µs", result, Bar::RatioWithin(0.10));
    }
    Ok(())
}

fn bare_rounds(conditions: &Conditions, count: u64) -> Result<Vec<i64>, Reason> {
    let per_round = usize::try_from(count).unwrap_or(usize::MAX).div_ceil(ROUNDS);
    let mut all = Vec::new();
    for _ in 0..ROUNDS {
        let round = || {
            let _guards = conditions.apply()?;
            sys::periodic_lateness_ns(1_000_000, per_round)
        };
        let ended = std::thread::scope(|scope| scope.spawn(round).join());
        all.extend(ended.map_err(|_| "the bare loop panicked".to_owned())??);
    }
    Ok(all)
}
