//! The library's sleeps of 1 ms compared with `spin_sleep` and the standard library's sleep in one process: lateness and
//! CPU time, idle and with busy threads. And its pacer at 1 kHz.
//!
//! Bars when idle, compared with spin_sleep's default: at most 60 % of its CPU time, with a p99 of at most 1.1 times its.
//! With one and two busy threads per CPU: p99 is at most half of the plain sleep's, at most half as many sleeps are more
//! than 100 µs late, and the CPU time is no more than that of spin_sleep's `SpinLoopHint`. The pacer accumulates no drift,
//! and delivers every period or counts it as missed.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Std};

use oversleep::{Clock, Missed, Pacer, Sleeper, TimeSlice, TimerSlack};
use oversleep_benches::line::Line;
use oversleep_benches::pairs::{median, quantile};
use oversleep_benches::report::figure;
use oversleep_benches::{Bar, Pairs, Reason, Report, sys};
use spin_sleep::{SpinSleeper, SpinStrategy};

const REQUESTED: Duration = Duration::from_millis(1);
/// Sleeps that each contender makes in its turn.
const TURN: u64 = 20;
/// Unmeasured sleeps of each contender before the first round, for learning and for page faults.
const WARM_UP: u64 = 200;
const PERIOD_NS: i64 = 1_000_000;
const LATE_NS: i64 = 100_000;

fn main() -> ExitCode {
    Report::run("library_sleep", "peer", compare)
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    sleeps(report, "idle", report.count(400), report.pairs(9), IDLE);
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
        sleeps(report, &condition, report.count(200), report.pairs(9), BUSY);
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

/// What is compared, as an index of figures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Metric {
    P50,
    P99,
    Late,
    Cpu,
}

const METRICS: [(Metric, &str, &str); 4] = [
    (Metric::P50, "lateness p50", "µs"),
    (Metric::P99, "lateness p99", "µs"),
    (Metric::Late, "sleeps more than 100 µs late", "%"),
    (Metric::Cpu, "CPU time per sleep", "µs"),
];
const OURS: [&str; 2] = ["Sleeper", "oversleep::sleep"];
const SPIN_SLEEP: &str = "spin_sleep's default";
const SPIN_HINT: &str = "spin_sleep's SpinLoopHint";
const PLAIN: &str = "std::thread::sleep";

/// A metric, the peer that it is compared with, and the bar.
type Compared = (Metric, &'static str, Bar);

const IDLE: &[Compared] = &[
    (Metric::Cpu, SPIN_SLEEP, Bar::RatioAtMost(0.6)),
    (Metric::P99, SPIN_SLEEP, Bar::RatioAtMost(1.1)),
    (Metric::P99, PLAIN, Bar::None),
];
const BUSY: &[Compared] = &[
    (Metric::P99, PLAIN, Bar::MediansAtMost(0.5)),
    (Metric::Late, PLAIN, Bar::MediansAtMost(0.5)),
    (Metric::Cpu, SPIN_HINT, Bar::MediansAtMost(1.0)),
    (Metric::P50, SPIN_SLEEP, Bar::None),
];

/// What a contender's thread reports about its turn: each lateness, and the CPU time of all.
type Turn = (Vec<i64>, Option<u64>);

/// Sleeps on a thread of its own: what the scheduler owes a thread depends on its earlier sleeps.
struct Contender {
    name: &'static str,
    ask: Sender<u64>,
    turns: Receiver<Turn>,
    lateness_ns: Vec<i64>,
    cpu_ns: Option<u64>,
    /// Figures round by round, in the order of the metrics.
    rounds: [Vec<Option<f64>>; 4],
}

impl Contender {
    /// `prepare` runs on the contender's thread.
    fn new<S: FnMut()>(name: &'static str, prepare: impl FnOnce() -> S + Send + 'static) -> Contender {
        let (ask, requests) = channel::<u64>();
        let (tell, turns) = channel();
        std::thread::spawn(move || {
            let mut sleep = prepare();
            for sleeps in requests {
                if tell.send(turn(&mut sleep, sleeps)).is_err() {
                    break;
                }
            }
        });
        let rounds = [const { Vec::new() }; 4];
        Contender { name, ask, turns, lateness_ns: Vec::new(), cpu_ns: Some(0), rounds }
    }

    fn turn(&mut self, sleeps: u64) -> Result<(), Reason> {
        let ended = |_| format!("the thread of {} ended", self.name);
        self.ask.send(sleeps).map_err(|_| format!("the thread of {} ended", self.name))?;
        let (lateness_ns, cpu_ns) = self.turns.recv().map_err(ended)?;
        self.lateness_ns.extend(lateness_ns);
        self.cpu_ns = self.cpu_ns.zip(cpu_ns).map(|(sum, more)| sum + more);
        Ok(())
    }

    fn end_round(&mut self) {
        let sleeps = self.lateness_ns.len() as f64;
        let lateness = &mut self.lateness_ns;
        let late = lateness.iter().filter(|&&ns| ns > LATE_NS).count() as f64;
        let figures = [
            quantile(lateness, 0.5).map(|ns| ns as f64 / 1e3),
            quantile(lateness, 0.99).map(|ns| ns as f64 / 1e3),
            Some(late / sleeps * 100.0),
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

    /// The median over the rounds.
    fn median(&self, metric: Metric) -> Option<f64> {
        median(&self.rounds[metric as usize].iter().copied().collect::<Option<Vec<_>>>()?)
    }
}

fn turn(sleep: &mut impl FnMut(), sleeps: u64) -> Turn {
    let (mut lateness_ns, mut cpu_ns) = (Vec::new(), Some(0));
    for _ in 0..sleeps {
        let cpu_before_ns = sys::thread_cpu_ns();
        let start = Std::now();
        sleep();
        let duration = start.elapsed();
        let used_ns = sys::thread_cpu_ns().zip(cpu_before_ns).map(|(after, before)| after - before);
        cpu_ns = cpu_ns.zip(used_ns).map(|(sum, used): (u64, u64)| sum + used);
        lateness_ns.push(duration.as_nanos() as i64 - REQUESTED.as_nanos() as i64);
    }
    (lateness_ns, cpu_ns)
}

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
    let measured = (|| {
        for contender in &mut contenders {
            contender.turn(WARM_UP)?;
            contender.forget();
        }
        for round in 1..=rounds {
            report.progress(&format!("sleeps, {condition}, round {round} of {rounds}"));
            for turn in 0..count.div_ceil(TURN) as usize {
                order(contenders.len(), turn + round).try_for_each(|index| contenders[index].turn(TURN))?;
            }
            contenders.iter_mut().for_each(Contender::end_round);
        }
        Ok::<(), Reason>(())
    })();
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
            let mut pairs = Pairs::default();
            for pair in ours.rounds[metric as usize].iter().zip(&peer.rounds[metric as usize]) {
                if let (Some(ours), Some(peer)) = pair {
                    pairs.push(*ours, *peer);
                }
            }
            if pairs.ratios().is_empty() {
                report.skip(&format!("{title}: not available on this platform, or zero for the peer"));
                continue;
            }
            report.compare(&title, unit, &pairs, bar);
        }
    }
}

/// The order of this turn. It changes the predecessors: after a contender that lets the processor sleep deeply, the next
/// one wakes later.
fn order(contenders: usize, turn: usize) -> impl Iterator<Item = usize> {
    let has_no_factor =
        |stride: &usize| (2..=*stride).all(|n| !stride.is_multiple_of(n) || !contenders.is_multiple_of(n));
    let strides: Vec<usize> = (1..contenders).filter(has_no_factor).collect();
    let stride = strides[turn % strides.len()];
    (0..contenders).map(move |place| (turn + place * stride) % contenders)
}

/// The medians of all contenders.
fn table(contenders: &[Contender], condition: &str, count: u64, rounds: usize) -> String {
    let mut text = format!(
        "\nsleeps of 1 ms, {condition}: medians of {rounds} rounds of {count}\n  {:<28} {:>9} {:>9} {:>10} {:>9}",
        "", "p50, µs", "p99, µs", ">100 µs, %", "CPU, µs"
    );
    for contender in contenders {
        let figures = METRICS.map(|(metric, ..)| contender.median(metric).map_or_else(|| "unknown".to_owned(), figure));
        let [p50, p99, late, cpu] = figures;
        text.push_str(&format!("\n  {:<28} {p50:>9} {p99:>9} {late:>10} {cpu:>9}", contender.name));
    }
    text
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
