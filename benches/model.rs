//! How fast modelled machines run: waits per second of one thread (alone, and measured and recorded), and a whole
//! check.
//!
//! Bars: at least 10 million modelled waits per second on one core, and at most a second for a check of a modelled
//! machine. The waits are compared with bare reads of the modelled clock, because every wait needs one for its
//! deadline.

use std::process::ExitCode;
use std::time::Instant;

use oversleep_benches::{Bar, Pairs, Reason, Report};
use oversleep_lab::{Request, machines};
use oversleep_measure::{Limit, Plan, Silent, StopFlag, experiment, registry};
use oversleep_record::{CommandName, ExperimentId, Nanos};
use oversleep_system::{SharedPlatform, Target};

/// Waits per timing, which take about 30 ms.
const WAITS: u32 = 1_000_000;

/// One machine per system, with a second kind of timer if it has one.
const WAITED_ON: [(&str, &str); 4] = [
    ("linux-hz250", "nanosleep"),
    ("windows-11", "sleep"),
    ("windows-11", "waitable-timer-high-resolution"),
    ("macos-14-m1", "nanosleep"),
];

fn main() -> ExitCode {
    Report::run("model", "bare clock reads", compare)
}

fn reason(error: impl std::fmt::Display) -> Reason {
    error.to_string()
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    let pairs = report.pairs(20);
    for (machine, wait) in WAITED_ON {
        let platform = oversleep_model::platform(machine, &[], 1).map_err(reason)?;
        let mut figures = Pairs::default();
        for _ in 0..pairs {
            figures.push(waits_per_us(&platform, wait)?, reads_per_us(&platform));
        }
        let title = format!("{wait} on {machine}, waits per µs");
        report.compare(&title, "/µs", &figures, Bar::OursAtLeast(10.0));
        let mut figures = Pairs::default();
        for _ in 0..pairs {
            figures.push(measured_waits_per_us(machine, wait)?, reads_per_us(&platform));
        }
        let title = format!("{wait} on {machine}, measured waits per µs");
        report.compare(&title, "/µs", &figures, Bar::OursAtLeast(10.0));
    }
    for machine in machines::names() {
        let laboratory = machines::load(machine, &[], 1).map_err(reason)?;
        let request = Request {
            command: CommandName::Check,
            experiments: registry().to_vec(),
            plan: Plan::default(),
            name: None,
            try_remedies: true,
        };
        let start = Instant::now();
        let file = laboratory.run(&request, &StopFlag::new(), &mut Silent).map_err(reason)?;
        let duration_ms = start.elapsed().as_secs_f64() * 1e3;
        let mut figures = Pairs::default();
        figures.push(duration_ms, file.duration_ns.as_millis_f64());
        let title = format!("check of {machine}, wall time vs modelled time");
        report.compare(&title, "ms", &figures, Bar::OursAtMost(1_000.0));
    }
    Ok(())
}

fn waits_per_us(platform: &SharedPlatform, name: &str) -> Result<f64, Reason> {
    let wait = platform.wait(name).ok_or_else(|| format!("there is no {name}"))?;
    let mut waiter = wait.open(platform).map_err(reason)?;
    let start = Instant::now();
    for _ in 0..WAITS {
        let deadline = platform.now() + Nanos::from_millis(1);
        waiter.wait(Target { remaining: Nanos::from_millis(1), deadline });
    }
    Ok(f64::from(WAITS) / start.elapsed().as_secs_f64() / 1e6)
}

/// Waits as `waits NAME --count` measures them: timed, recorded, and put into a result.
fn measured_waits_per_us(machine: &str, wait: &str) -> Result<f64, Reason> {
    let laboratory = machines::load(machine, &[], 1).map_err(reason)?;
    let request = Request {
        command: CommandName::Waits,
        experiments: vec![experiment(ExperimentId::B5).ok_or("there is no B5")?],
        plan: Plan {
            requests: vec![Nanos::from_millis(1)],
            limit: Some(Limit::Count(u64::from(WAITS))),
            subjects: vec![wait.to_owned()],
            ..Plan::default()
        },
        name: None,
        try_remedies: false,
    };
    let start = Instant::now();
    let file = laboratory.run(&request, &StopFlag::new(), &mut Silent).map_err(reason)?;
    let duration_us = start.elapsed().as_secs_f64() * 1e6;
    let waits: u64 = file.series.iter().map(|series| series.counts.recorded).sum();
    if waits < u64::from(WAITS) {
        return Err(format!("only {waits} waits were measured"));
    }
    Ok(waits as f64 / duration_us)
}

fn reads_per_us(platform: &SharedPlatform) -> f64 {
    let start = Instant::now();
    for _ in 0..WAITS {
        std::hint::black_box(platform.now());
    }
    f64::from(WAITS) / start.elapsed().as_secs_f64() / 1e6
}
