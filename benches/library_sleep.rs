//! The library's sleeps of 1 ms compared with spin_sleep's default and the standard library's sleep in one process:
//! lateness and CPU time, idle and with busy threads. And its pacer at 1 kHz.
//!
//! Bars when idle: p99 is no larger than that of spin_sleep's default, with at most 60 % of its CPU time. With two busy
//! threads per CPU: p50 is at most 1 µs if that of spin_sleep's default exceeds 1 ms, and p99 is at most 1.1 times that
//! of the plain sleep. The pacer accumulates no drift, and delivers every period or counts it as missed.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Std};

use oversleep::{Clock, Missed, Pacer, Sleeper, TimerSlack};
use oversleep_benches::line::Line;
use oversleep_benches::pairs::quantile;
use oversleep_benches::report::figure;
use oversleep_benches::{Bar, Pairs, Reason, Report, sys};

const REQUESTED: Duration = Duration::from_millis(1);
/// Sleeps that each contender makes in its turn.
const TURN: u64 = 5;
/// Unmeasured sleeps of each contender before the first round, for learning and for page faults.
const WARM_UP: u64 = 40;
const PERIOD_NS: i64 = 1_000_000;

fn main() -> ExitCode {
    Report::run("library_sleep", "peer", compare)
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    sleeps(report, "idle", report.count(400), report.pairs(9), idle_bar);
    let slack = TimerSlack::hold(Duration::from_nanos(1));
    if slack.outcome().holds() {
        // spin_sleep leaves the slack as found, so it wakes earlier here and spins longer.
        sleeps(report, "idle, timer slack 1 ns for all", report.count(400), report.pairs(9), |_, _, _| Bar::None);
    } else {
        report.skip(&format!("idle with a timer slack of 1 ns: {}", slack.outcome()));
    }
    drop(slack);
    let per_cpu = report.options.hogs.unwrap_or(2);
    let condition = format!("{per_cpu} busy threads per CPU");
    let hogs = Hogs::start(report.machine.cpus.len() * per_cpu as usize);
    sleeps(report, &condition, report.count(200), report.pairs(5), busy_bar);
    drop(hogs);
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

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Metric {
    P50,
    P99,
    Cpu,
}

const METRICS: [(Metric, &str); 3] =
    [(Metric::P50, "lateness p50"), (Metric::P99, "lateness p99"), (Metric::Cpu, "CPU time per sleep")];
const SPIN_SLEEP: &str = "spin_sleep's default";
const PLAIN: &str = "std::thread::sleep";

struct Contender {
    name: &'static str,
    sleep: Box<dyn FnMut()>,
    lateness_ns: Vec<i64>,
    cpu_ns: Option<u64>,
    /// p50, p99 and CPU time per sleep in µs, round by round.
    rounds: [Vec<Option<f64>>; 3],
}

impl Contender {
    fn new(name: &'static str, sleep: impl FnMut() + 'static) -> Contender {
        let rounds = [Vec::new(), Vec::new(), Vec::new()];
        Contender { name, sleep: Box::new(sleep), lateness_ns: Vec::new(), cpu_ns: Some(0), rounds }
    }

    fn turn(&mut self, sleeps: u64) {
        for _ in 0..sleeps {
            let cpu_before_ns = sys::thread_cpu_ns();
            let start = Std::now();
            (self.sleep)();
            let duration = start.elapsed();
            let used_ns = sys::thread_cpu_ns().zip(cpu_before_ns).map(|(after, before)| after - before);
            self.cpu_ns = self.cpu_ns.zip(used_ns).map(|(sum, used)| sum + used);
            self.lateness_ns.push(duration.as_nanos() as i64 - REQUESTED.as_nanos() as i64);
        }
    }

    fn end_round(&mut self) {
        let sleeps = self.lateness_ns.len() as f64;
        let lateness = &mut self.lateness_ns;
        let figures = [
            quantile(lateness, 0.5).map(|ns| ns as f64 / 1e3),
            quantile(lateness, 0.99).map(|ns| ns as f64 / 1e3),
            self.cpu_ns.map(|ns| ns as f64 / sleeps / 1e3),
        ];
        for (round, figure) in self.rounds.iter_mut().zip(figures) {
            round.push(figure);
        }
        self.forget();
    }

    fn forget(&mut self) {
        self.lateness_ns.clear();
        self.cpu_ns = Some(0);
    }
}

/// The bar for a metric compared with this peer, given the figures.
type BarFor = fn(Metric, &str, &Pairs) -> Bar;

fn idle_bar(metric: Metric, peer: &str, _: &Pairs) -> Bar {
    match metric {
        Metric::P99 if peer == SPIN_SLEEP => Bar::RatioAtMost(1.0),
        Metric::Cpu if peer == SPIN_SLEEP => Bar::RatioAtMost(0.6),
        _ => Bar::None,
    }
}

fn busy_bar(metric: Metric, peer: &str, pairs: &Pairs) -> Bar {
    let is_peer_late = pairs.summary().is_some_and(|summary| summary.peer > 1_000.0);
    match metric {
        Metric::P50 if peer == SPIN_SLEEP && is_peer_late => Bar::OursAtMost(1.0),
        Metric::P99 if peer == PLAIN => Bar::RatioAtMost(1.1),
        _ => Bar::None,
    }
}

fn sleeps(report: &mut Report, condition: &str, count: u64, rounds: usize, bar_for: BarFor) {
    let mut sleeper = Sleeper::new();
    let spin_sleeper = spin_sleep::SpinSleeper::default();
    let mut ours = [
        Contender::new("Sleeper", move || {
            sleeper.sleep(REQUESTED);
        }),
        Contender::new("oversleep::sleep", || oversleep::sleep(REQUESTED)),
    ];
    let mut peers = [
        Contender::new(SPIN_SLEEP, move || spin_sleeper.sleep(REQUESTED)),
        Contender::new(PLAIN, || std::thread::sleep(REQUESTED)),
    ];
    for contender in ours.iter_mut().chain(&mut peers) {
        contender.turn(WARM_UP);
        contender.forget();
    }
    for round in 1..=rounds {
        report.progress(&format!("sleeps, {condition}, round {round} of {rounds}"));
        for _ in 0..count.div_ceil(TURN) {
            ours.iter_mut().chain(&mut peers).for_each(|contender| contender.turn(TURN));
        }
        ours.iter_mut().chain(&mut peers).for_each(Contender::end_round);
    }
    for ours in &ours {
        for peer in &peers {
            for (at, (metric, name)) in METRICS.iter().enumerate() {
                let title = format!("{name}, 1 ms, {condition}, {} vs {}, {count} per round", ours.name, peer.name);
                let mut pairs = Pairs::default();
                for (ours, peer) in ours.rounds[at].iter().zip(&peer.rounds[at]) {
                    if let (Some(ours), Some(peer)) = (ours, peer) {
                        pairs.push(*ours, *peer);
                    }
                }
                if pairs.ratios().is_empty() {
                    report.skip(&format!("{title}: not available on this platform"));
                    continue;
                }
                report.compare(&title, "µs", &pairs, bar_for(*metric, peer.name, &pairs));
            }
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
