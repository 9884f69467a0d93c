//! The library's sleeps of 1 ms compared with `spin_sleep` and the standard library's sleep in one process: lateness and
//! CPU time, idle and with busy threads. And its pacer at 1 kHz.
//!
//! Bars when idle, compared with spin_sleep's default: no more CPU time, with a p99 of at most 1.1 times its and 0.3 µs, by
//! a sign test of the pairs.
//! With one and two busy threads per CPU: p99 is at most half of the plain sleep's, at most half as many sleeps are more
//! than 100 µs late, and the CPU time is no more than that of spin_sleep's `SpinLoopHint`. The pacer accumulates no drift,
//! and delivers every period or counts it as missed.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use oversleep::{Clock, Missed, Pacer, Sleeper, TimeSlice, TimerSlack};
use oversleep_benches::contenders::{Contender, METRICS, Metric, REQUESTED, measure, table};
use oversleep_benches::line::Line;
use oversleep_benches::pairs::quantile;
use oversleep_benches::report::figure;
use oversleep_benches::{Bar, Reason, Report};
use spin_sleep::{SpinSleeper, SpinStrategy};

const PERIOD_NS: i64 = 1_000_000;

fn main() -> ExitCode {
    Report::run("library_sleep", "peer", compare)
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    sleeps(report, "idle", report.count(400), report.pairs(30), IDLE);
    let slack = TimerSlack::hold(Duration::from_nanos(1));
    if slack.outcome().holds() {
        // Threads inherit it. spin_sleep leaves the slack as found, so it wakes earlier here and spins longer.
        sleeps(report, "idle, timer slack 1 ns for all", report.count(400), report.pairs(9), &[]);
    } else {
        report.skip(&format!("idle with a timer slack of 1 ns: {}", slack.outcome()));
    }
    drop(slack);
    let cpus = report.machine.cpus.len();
    for per_cpu in report.options.hogs.map_or(vec![1, 2], |per_cpu| vec![per_cpu]) {
        let hogs = Hogs::start(cpus * per_cpu as usize);
        let condition = format!("{} busy threads on {cpus} CPUs", cpus * per_cpu as usize);
        sleeps(report, &condition, report.count(400), report.pairs(9), BUSY);
        drop(hogs);
    }
    pacer(report);
    Ok(())
}

/// Threads that spin until this is dropped.
struct Hogs {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Hogs {
    fn start(count: usize) -> Hogs {
        let stop = Arc::new(AtomicBool::new(false));
        let hog = || {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        Hogs { threads: (0..count).map(|_| hog()).collect(), stop }
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A hog can't panic, and there would be nothing to undo.
            let _ = thread.join();
        }
    }
}

const OURS: [&str; 2] = ["Sleeper", "oversleep::sleep"];
const SPIN_SLEEP: &str = "spin_sleep's default";
const SPIN_HINT: &str = "spin_sleep's SpinLoopHint";
const PLAIN: &str = "std::thread::sleep";

/// A metric, the peer that it is compared with, and the bar.
type Compared = (Metric, &'static str, Bar);

const IDLE: &[Compared] = &[
    (Metric::Cpu, SPIN_SLEEP, Bar::PairsAtMost(1.0, 0.0)),
    (Metric::P99, SPIN_SLEEP, Bar::PairsAtMost(1.1, 0.3)),
    (Metric::P99, PLAIN, Bar::None),
];
const BUSY: &[Compared] = &[
    (Metric::P99, PLAIN, Bar::MediansAtMost(0.5)),
    (Metric::Late, PLAIN, Bar::MediansAtMost(0.5)),
    (Metric::Cpu, SPIN_HINT, Bar::MediansAtMost(1.0)),
    (Metric::P50, SPIN_SLEEP, Bar::None),
];

/// A contender that sleeps with this sleeper.
fn with(name: &'static str, mut sleeper: Sleeper) -> Contender {
    Contender::new(name, move || {
        move || {
            sleeper.sleep(REQUESTED);
        }
    })
}

fn contenders() -> Vec<Contender> {
    vec![
        with(OURS[0], Sleeper::new()),
        Contender::new(OURS[1], || || oversleep::sleep(REQUESTED)),
        Contender::new("Sleeper, slice held", || {
            let (held, mut sleeper) = (TimeSlice::hold(TimeSlice::SHORTEST), Sleeper::new());
            move || {
                sleeper.sleep(REQUESTED);
                // The slice is held for as long as the thread sleeps.
                let _ = &held;
            }
        }),
        with("Sleeper::precise", Sleeper::precise()),
        with("Sleeper::thrifty", Sleeper::thrifty()),
        with("Sleeper, budget 0", Sleeper::new().with_budget(Duration::ZERO)),
        Contender::new(SPIN_SLEEP, || || SpinSleeper::default().sleep(REQUESTED)),
        Contender::new(SPIN_HINT, || {
            || SpinSleeper::default().with_spin_strategy(SpinStrategy::SpinLoopHint).sleep(REQUESTED)
        }),
        Contender::new(PLAIN, || || std::thread::sleep(REQUESTED)),
    ]
}

fn sleeps(report: &mut Report, condition: &str, count: u64, rounds: usize, compared: &[Compared]) {
    let mut contenders = contenders();
    let measured = measure(&mut contenders, rounds, count, |round| {
        report.progress(&format!("sleeps, {condition}, round {round} of {rounds}"));
    });
    if let Err(reason) = measured {
        return report.skip(&format!("{condition}: {reason}"));
    }
    report.say(&table(&contenders, condition, count, rounds));
    for name in OURS {
        for &(metric, peer, bar) in compared {
            let [ours, peer] = [name, peer].map(|name| contenders.iter().find(|contender| contender.name == name));
            let (Some(ours), Some(peer)) = (ours, peer) else { continue };
            let (_, what, unit) = METRICS[metric as usize];
            let title = format!("{what}, 1 ms, {condition}, {} vs {}, {count} per round", ours.name, peer.name);
            let pairs = ours.pairs(peer, metric);
            if pairs.ratios().is_empty() {
                report.skip(&format!("{title}: not available on this platform, or zero for the peer"));
                continue;
            }
            report.compare(&title, unit, &pairs, bar);
        }
    }
}

/// One run. Every 500 beats the loop is away for 3.5 periods, so that every machine misses some.
fn pacer(report: &mut Report) {
    let seconds = report.options.pacer_s.unwrap_or(5);
    report.progress(&format!("pacer, {seconds} s"));
    let periods = u64::from(seconds) * 1_000;
    let line = Line::new(300);
    let mut pacer = Pacer::per_second(1_000).on_missed(Missed::Skip);
    let start = pacer.start();
    let offset = || line.offset(|| Clock::now_ordered().nanos_since(start));
    let first = offset();
    let (mut beats, mut missed, mut off_grid, mut lateness_ns) = (0_u64, 0_u64, 0_u64, Vec::new());
    let mut period = 0;
    while period < periods {
        let beat = pacer.wait();
        beats += 1;
        missed += beat.missed;
        period = beat.period;
        let due_ns = i64::try_from(period).unwrap_or(i64::MAX).saturating_mul(PERIOD_NS);
        off_grid += u64::from(beat.deadline.nanos_since(start) != due_ns);
        if beat.missed == 0 {
            lateness_ns.push(i64::try_from(beat.lateness_ns).unwrap_or(i64::MAX));
        }
        if beats % 500 == 0 {
            std::thread::sleep(Duration::from_micros(3_500));
        }
    }
    let last = offset();
    // Whole periods so far by the standard library's clock, before and after the pacer's last poll. The two clocks may
    // differ by 1 µs either way.
    let passed = |tolerance_ns: i64| (line.elapsed_ns() + first.offset_ns + tolerance_ns).div_euclid(PERIOD_NS);
    let at_least = passed(-1_000);
    if let Some(beat) = pacer.poll() {
        beats += 1;
        missed += beat.missed;
        period = beat.period;
    }
    let at_most = passed(1_000);
    let drift_ns = last.offset_ns - first.offset_ns;
    let quantile_us =
        |values: &mut [i64], share| quantile(values, share).map_or("unknown".to_owned(), |ns| figure(ns as f64 / 1e3));
    report.say(&format!(
        "\npacer, 1 kHz, {seconds} s\n  {beats} beats, {missed} periods missed; lateness of beats without a miss: p50 \
         {} µs, p99 {} µs, max {} µs\n  the grid drifted by {drift_ns} ns from the operating system's clock (± {} ns)",
        quantile_us(&mut lateness_ns, 0.5),
        quantile_us(&mut lateness_ns, 0.99),
        quantile_us(&mut lateness_ns, 1.0),
        (first.width_ns + last.width_ns) / 2,
    ));
    report.judge("every deadline is on the grid, to the nanosecond", off_grid == 0);
    let allowed_ns = f64::from(seconds) * 50.0 + (first.width_ns + last.width_ns) as f64 / 2.0;
    report.judge("the grid drifted by at most 0.05 ppm", drift_ns.abs() as f64 <= allowed_ns);
    let adds_up = beats + missed == period && pacer.missed() == missed;
    report.judge("beats and missed periods add up to all periods", adds_up);
    let last_period = i64::try_from(period).unwrap_or(i64::MAX);
    let is_complete = (at_least..=at_most).contains(&last_period);
    report.judge("as many periods as passed by the operating system's clock", is_complete);
}
