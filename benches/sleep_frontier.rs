//! What a sleep of 1 ms can be: CPU time against lateness, for fixed plans of waits and spinning beside the library's
//! sleeps at several prices and quantiles, which learn theirs, and `spin_sleep`'s default.
//!
//! A plan waits until each of its margins before the deadline and spins for the rest. The report names the plans that would
//! meet both bars of `library_sleep`: no more CPU time than `spin_sleep`'s default, and at most 1.1 times its p99.

use std::process::ExitCode;
use std::time::{Duration, Instant as Std};

use oversleep::{Instant, Resolution, Sleeper, TimeSlice, TimerSlack};
use oversleep_benches::contenders::{Contender, Metric, REQUESTED, measure, table};
use oversleep_benches::report::figure;
use oversleep_benches::{Reason, Report};

const PEER: &str = "spin_sleep's default";
const CPU_RATIO: f64 = 1.0;
const P99_RATIO: f64 = 1.1;

fn main() -> ExitCode {
    Report::run("sleep_frontier", "peer", |report| {
        frontier(report, "idle", plans());
        let held = Resolution::new().cpu_latency(Duration::ZERO).hold();
        let denied = held.settings().iter().find(|setting| !setting.outcome.holds());
        match denied {
            // Processors that poll while they idle, as root may request for the whole machine: no plan does that.
            None => frontier(report, "idle, CPU wake-up latency 0 for all", few()),
            Some(setting) => report.skip(&format!("idle with a CPU wake-up latency of 0: {setting}")),
        }
        Ok::<(), Reason>(())
    })
}

/// Waits until each margin before the deadline, in microseconds, then spins. Holds a slack of 1 ns, and a slice or not.
fn fixed(margins_us: &'static [u64], has_slice: bool) -> Contender {
    let margins: Vec<String> = margins_us.iter().map(u64::to_string).collect();
    let name = format!("waits until -{} µs{}", margins.join(", -"), if has_slice { ", slice" } else { "" });
    Contender::new(&name, move || {
        let slack = TimerSlack::hold(Duration::from_nanos(1));
        let slice = has_slice.then(|| TimeSlice::hold(TimeSlice::SHORTEST));
        // With a budget of zero, a sleep is one wait of the system.
        let mut wait = Sleeper::new().with_budget(Duration::ZERO);
        move || {
            let deadline = Instant::now() + REQUESTED;
            for &margin_us in margins_us {
                wait.sleep_until(deadline - Duration::from_micros(margin_us));
            }
            while Instant::now() < deadline {
                std::hint::spin_loop();
            }
            // Both are held for as long as the thread sleeps.
            let _ = (&slack, &slice);
        }
    })
}

/// One wait for all of it, with a slack of 1 ns.
fn waits_by(name: &str, wait: fn(Duration)) -> Contender {
    Contender::new(name, move || {
        let slack = TimerSlack::hold(Duration::from_nanos(1));
        move || {
            let end = Std::now() + REQUESTED;
            while let Some(left) = end.checked_duration_since(Std::now()).filter(|left| !left.is_zero()) {
                wait(left);
            }
            let _ = &slack;
        }
    })
}

fn learns(name: &str, mut sleeper: Sleeper) -> Contender {
    Contender::new(name, move || {
        move || {
            sleeper.sleep(REQUESTED);
        }
    })
}

fn few() -> Vec<Contender> {
    vec![
        Contender::new(PEER, || || spin_sleep::SpinSleeper::default().sleep(REQUESTED)),
        learns("Sleeper", Sleeper::new()),
        fixed(&[0], false),
        fixed(&[20], false),
    ]
}

fn plans() -> Vec<Contender> {
    let mut plans = few();
    let priced = |price| learns(&format!("Sleeper, price {price}"), Sleeper::new().with_price(price));
    plans.extend([1, 10, 30, 100, 300].map(priced));
    let aiming = |on_time| learns(&format!("Sleeper, quantile {on_time}"), Sleeper::new().with_quantile(on_time));
    plans.extend([0.9, 0.97, 0.999].map(aiming));
    plans.push(waits_by("thread::sleep", std::thread::sleep));
    plans.push(waits_by("thread::park_timeout", std::thread::park_timeout));
    plans.extend([&[30], &[40], &[50], &[60], &[70], &[80], &[100]].map(|margins| fixed(margins, false)));
    plans.extend([&[30], &[50], &[70]].map(|margins| fixed(margins, true)));
    plans.extend([&[60, 10], &[100, 20], &[120, 30], &[200, 30]].map(|margins| fixed(margins, false)));
    plans.push(fixed(&[120, 60, 20], false));
    plans
}

fn frontier(report: &mut Report, condition: &str, mut plans: Vec<Contender>) {
    let (rounds, count) = (report.pairs(9), report.count(200));
    let measured = measure(&mut plans, rounds, count, |round| {
        report.progress(&format!("{condition}, round {round} of {rounds}"));
    });
    if let Err(reason) = measured {
        return report.skip(&format!("{condition}: {reason}"));
    }
    plans
        .sort_by(|a, b| a.median(Metric::Cpu).partial_cmp(&b.median(Metric::Cpu)).unwrap_or(std::cmp::Ordering::Equal));
    report.say_measured(&table(&plans, condition, count, rounds));
    let Some(peer) = plans.iter().find(|plan| plan.name == PEER) else { return };
    let mut text = format!("\nratios to {PEER}, {condition}: medians of {rounds} paired rounds");
    let mut meeting = Vec::new();
    for plan in plans.iter().filter(|plan| plan.name != PEER) {
        let ratio = |metric| plan.pairs(peer, metric).summary().map(|summary| summary.ratio);
        let (cpu, p99) = (ratio(Metric::Cpu), ratio(Metric::P99));
        let say = |ratio: Option<f64>| ratio.map_or_else(|| "unknown".to_owned(), figure);
        text.push_str(&format!("\n  {:<28} CPU {:>8}  p99 {:>8}", plan.name, say(cpu), say(p99)));
        if cpu.is_some_and(|cpu| cpu <= CPU_RATIO) && p99.is_some_and(|p99| p99 <= P99_RATIO) {
            meeting.push(plan.name.as_str());
        }
    }
    let meeting = if meeting.is_empty() { "none".to_owned() } else { meeting.join("; ") };
    text.push_str(&format!("\n  CPU <= {CPU_RATIO} and p99 <= {P99_RATIO}: {meeting}"));
    report.say(&text);
}
