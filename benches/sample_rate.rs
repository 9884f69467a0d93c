//! Samples per second at an interval of 1 µs under `SCHED_FIFO`, compared with cyclictest's cycles per second.
//!
//! Bar: at least 200,000 samples recorded per second. No machine's timer wakes a thread that often, so most samples are
//! deadlines that passed during the previous call and were recorded without a call. The second comparison counts only
//! calls, as cyclictest does, which skips the other periods.

use std::process::ExitCode;

use oversleep_benches::lab::Conditions;
use oversleep_benches::{Bar, Pairs, Reason, Report, cyclictest, ours, program};

const SECONDS: u64 = 2;

fn main() -> ExitCode {
    Report::run("sample_rate", "cyclictest", compare)
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    let Some(peer) = cyclictest::find() else {
        report.skip(cyclictest::NOT_INSTALLED);
        return Ok(());
    };
    let oversleep = program::oversleep()?;
    let (conditions, refused) = Conditions::to_compare(&report.machine);
    for reason in refused {
        report.skip(&reason);
    }
    let Some(conditions) = conditions.into_iter().find(|conditions| conditions.fifo.is_some()) else { return Ok(()) };
    report.say(&format!("{} vs {}", ours::version(&oversleep), cyclictest::version(&peer)));
    let pairs = report.pairs(5);
    let own = ours::periodic_arguments(&conditions, "1us", &format!("--for {SECONDS}s"));
    let theirs = cyclictest::rate_arguments(&conditions, 1, SECONDS);
    report.say(&format!("  {}\n  {}", program::line(&oversleep, &own), program::line(&peer, &theirs)));
    let (mut samples, mut calls) = (Pairs::default(), Pairs::default());
    for pair in 1..=pairs {
        let run = ours::Run::take(&oversleep, &own)?;
        let rates = run.recorded_per_second().zip(run.calls_per_second());
        let (recorded, made) = rates.ok_or("the result doesn't state the duration of its rounds")?;
        let cycles = cyclictest::cycles(&program::output(&peer, &theirs)?)? as f64 / SECONDS as f64;
        samples.push(recorded, cycles);
        calls.push(made, cycles);
        report.progress(&format!("pair {pair} of {pairs}"));
    }
    report.compare("samples recorded", "/s", &samples, Bar::OursAtLeast(200_000.0));
    report.compare("calls made", "/s", &calls, Bar::None);
    Ok(())
}
