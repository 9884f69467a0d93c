//! Lateness of absolute waits of 1 ms, compared with `cyclictest` under equal conditions: p50 and p99.
//!
//! Bar: the medians of the pairs' ratios are between 0.90 and 1.10, under `SCHED_OTHER` and `SCHED_FIFO`.

use std::process::ExitCode;

use oversleep_benches::lab::Conditions;
use oversleep_benches::{Bar, Pairs, Reason, Report, cyclictest, ours, program};

/// Raw samples that the command keeps per series; quantiles come from these.
const COUNT_MAX: u64 = 100_000;
const SHARES: [(&str, f64); 2] = [("p50", 0.5), ("p99", 0.99)];

fn main() -> ExitCode {
    Report::run("cyclictest", "cyclictest", compare)
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    let Some(peer) = cyclictest::find() else {
        report.skip(cyclictest::NOT_INSTALLED);
        return Ok(());
    };
    let oversleep = program::oversleep()?;
    report.say(&format!("{} vs {}", ours::version(&oversleep), cyclictest::version(&peer)));
    let (conditions, refused) = Conditions::to_compare(&report.machine);
    for reason in refused {
        report.skip(&reason);
    }
    if conditions.iter().all(|conditions| conditions.fifo.is_none()) {
        report.skip("cyclictest refuses to run without the right to real-time policies; run this as root");
        return Ok(());
    }
    let (pairs, count) = (report.pairs(21), report.count(2_000).min(COUNT_MAX));
    report.say(&format!(
        "{pairs} pairs of {count} waits each, both pinned to CPU {}, in ns; our missed deadlines are left out, because \
         cyclictest skips them",
        report.machine.pin()
    ));
    let commands: Vec<_> = conditions
        .iter()
        .map(|conditions| {
            let own = ours::periodic_arguments(conditions, "1ms", &format!("--count {count}"));
            (own, cyclictest::histogram_arguments(conditions, 1_000, count))
        })
        .collect();
    for (own, theirs) in &commands {
        report.say(&format!("  {}\n  {}", program::line(&oversleep, own), program::line(&peer, theirs)));
    }
    let mut results = vec![SHARES.map(|_| Pairs::default()); conditions.len()];
    for pair in 1..=pairs {
        // Every turn measures all policies, so that a change of the machine affects them alike.
        for ((own, theirs), results) in commands.iter().zip(&mut results) {
            let mut run = ours::Run::take(&oversleep, own)?;
            let histogram = cyclictest::Histogram::read(&program::output(&peer, theirs)?)?;
            for ((_, share), result) in SHARES.iter().zip(results) {
                if let (Some(own), Some(theirs)) = (run.calls_us(*share), histogram.quantile(*share)) {
                    result.push(own, theirs as f64 / 1e3);
                }
            }
        }
        report.progress(&format!("pair {pair} of {pairs}"));
    }
    for (conditions, results) in conditions.iter().zip(&results) {
        for ((name, _), result) in SHARES.iter().zip(results) {
            report.compare(
                &format!("lateness, 1 ms, {}, {name}", conditions.policy()),
                "µs",
                result,
                Bar::RatioWithin(0.10),
            );
        }
    }
    Ok(())
}
