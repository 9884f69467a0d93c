//! Sleeps that take turns, each on a thread of its own: lateness and CPU time, round by round.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant as Std};

use crate::pairs::{Pairs, median, quantile};
use crate::report::figure;
use crate::{Reason, sys};

/// What each contender sleeps.
pub const REQUESTED: Duration = Duration::from_millis(1);
/// Sleeps that each contender makes in its turn.
const TURN: u64 = 20;
/// Unmeasured sleeps of each contender before the first round, for learning and for page faults.
const WARM_UP: u64 = 200;
const LATE_NS: i64 = 100_000;

/// What is compared, as an index of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The median lateness.
    P50,
    /// The lateness that one sleep in a hundred exceeds.
    P99,
    /// The share of late sleeps.
    Late,
    /// The CPU time per sleep.
    Cpu,
}

/// Every metric with its name and unit.
pub const METRICS: [(Metric, &str, &str); 4] = [
    (Metric::P50, "lateness p50", "µs"),
    (Metric::P99, "lateness p99", "µs"),
    (Metric::Late, "sleeps more than 100 µs late", "%"),
    (Metric::Cpu, "CPU time per sleep", "µs"),
];
/// What a contender's thread reports about its turn: each lateness, and the CPU time of all.
type Turn = (Vec<i64>, Option<u64>);

/// Sleeps on a thread of its own: what the scheduler owes a thread depends on its earlier sleeps.
#[derive(Debug)]
pub struct Contender {
    /// Its name in tables.
    pub name: String,
    ask: Sender<u64>,
    turns: Receiver<Turn>,
    lateness_ns: Vec<i64>,
    cpu_ns: Option<u64>,
    /// Figures round by round, in the order of the metrics.
    rounds: [Vec<Option<f64>>; 4],
}

impl Contender {
    /// A contender whose thread runs `prepare` first.
    pub fn new<S: FnMut()>(name: &str, prepare: impl FnOnce() -> S + Send + 'static) -> Contender {
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
        Contender { name: name.to_owned(), ask, turns, lateness_ns: Vec::new(), cpu_ns: Some(0), rounds }
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

    /// This metric of both contenders, round by round.
    pub fn pairs(&self, peer: &Contender, metric: Metric) -> Pairs {
        let mut pairs = Pairs::default();
        for pair in self.rounds[metric as usize].iter().zip(&peer.rounds[metric as usize]) {
            if let (Some(ours), Some(peer)) = pair {
                pairs.push(*ours, *peer);
            }
        }
        pairs
    }

    fn forget(&mut self) {
        self.lateness_ns.clear();
        self.cpu_ns = Some(0);
    }

    /// The median over the rounds.
    pub fn median(&self, metric: Metric) -> Option<f64> {
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

/// Lets the contenders sleep `count` times in each round.
///
/// # Errors
/// The reason why a contender ended.
pub fn measure(
    contenders: &mut [Contender],
    rounds: usize,
    count: u64,
    mut progress: impl FnMut(usize),
) -> Result<(), Reason> {
    for contender in &mut *contenders {
        contender.turn(WARM_UP)?;
        contender.forget();
    }
    for round in 1..=rounds {
        progress(round);
        for turn in 0..count.div_ceil(TURN) as usize {
            order(contenders.len(), turn + round).try_for_each(|index| contenders[index].turn(TURN))?;
        }
        contenders.iter_mut().for_each(Contender::end_round);
    }
    Ok(())
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
pub fn table(contenders: &[Contender], condition: &str, count: u64, rounds: usize) -> String {
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
