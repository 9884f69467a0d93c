//! One run of a pipeline: a source, and workers that pass items on through bounded queues.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use oversleep_record::{Idling, Nanos, Unavailable};
use oversleep_system::{Handoff, Platform};

use super::ring::{Ring, Side};
use super::strategy::Kind;
use super::worker::Idle;
use crate::bench::Bench;
use crate::still::{Reads, StillClock};

/// Items that a worker takes before it looks at anything else.
const BATCH: usize = 64;
/// Idle turns between two looks at the clock.
const TURNS_PER_LOOK: u32 = 64;
/// How long after its start a paced source sends its first item.
const LEAD: Nanos = Nanos(200_000);
/// A run that takes so many times its window is ended; items still in a queue are recorded as missed.
const OVERRUN: i64 = 4;

/// A pipeline.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// How its threads idle.
    pub kind: Kind,
    /// The wait that parks.
    pub park: String,
    /// The grid that parks end on; `None` as the machine does.
    pub grid: Option<Nanos>,
    /// Items that each queue holds.
    pub queue: usize,
    /// Workers, one after another.
    pub workers: usize,
    /// Thousandths of a unit of work for each item, in each worker.
    pub milli_units: u64,
}

/// How many items are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// As many as there is room for; the source idles like the workers.
    FlatOut,
    /// So many per second, each when it is due; the source spins until then.
    PerSecond(u64),
}

/// What a run came to.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// What its threads did while they had no item. A source that paces is no part of them.
    pub idling: Idling,
    /// Items per second, flat out.
    pub rate: Option<f64>,
    /// When each item was due, and how long after that its last worker had it.
    pub latencies: Vec<(Nanos, Nanos)>,
    /// When items were due that no worker had by the end, and how long ago that was then.
    pub missed: Vec<(Nanos, Nanos)>,
    /// Items that were due.
    pub due: u64,
}

/// What the threads of a run share.
struct Shared {
    bench: Bench,
    line: Line,
    offered: Offered,
    rings: Vec<Ring>,
    ready: AtomicUsize,
    /// A thread has ended before its time, so nothing can go on.
    is_broken: AtomicBool,
    refused: OnceLock<Unavailable>,
    /// When it is ended at the latest.
    give_up_at: OnceLock<Nanos>,
    /// From when to when throughput is counted.
    counted: OnceLock<(Nanos, Nanos)>,
    ended: Mutex<Vec<(usize, Ended)>>,
}

/// What one worker hands over.
#[derive(Debug, Default)]
struct Ended {
    idling: Idling,
    items: u64,
    marks: Marks,
    latencies: Vec<(Nanos, Nanos)>,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_broken.load(Ordering::Acquire) || self.bench.stopped()
    }

    fn is_late(&self) -> bool {
        self.give_up_at.get().is_some_and(|&at| self.bench.platform().now() >= at)
    }

    /// Ends the run: every thread that blocks is woken.
    fn break_off(&self) {
        self.is_broken.store(true, Ordering::Release);
        for ring in &self.rings {
            ring.ring(Side::Producer);
            ring.ring(Side::Consumer);
        }
    }
}

/// Breaks the run off where a thread ends before its time, also by a panic.
struct Guard<'a>(&'a Shared, bool);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.1 {
            self.0.break_off();
        }
    }
}

/// Moments at which so many items had been taken: the first and the last in the time that counts. Where a worker idles, it
/// counts from the end of an idle spell to the end of another one, so that whole spells are counted.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    turns: Option<[(Nanos, u64); 2]>,
    spells: Option<[(Nanos, u64); 2]>,
}

impl Marks {
    fn note(&mut self, now: Nanos, items: u64, was_idle: bool) {
        let noted =
            |marks: Option<[(Nanos, u64); 2]>| Some([marks.map_or((now, items), |[first, _]| first), (now, items)]);
        self.turns = noted(self.turns);
        if was_idle {
            self.spells = noted(self.spells);
        }
    }

    /// Items per second.
    fn rate(&self) -> Option<f64> {
        let span = |[(from, _), (to, _)]: [(Nanos, u64); 2]| to - from;
        let (turns, spells) = (self.turns?, self.spells);
        let marks = spells.filter(|&spells| span(spells) * 2 >= span(turns)).unwrap_or(turns);
        let items = marks[1].1 - marks[0].1;
        (span(marks) > Nanos::ZERO).then(|| items as f64 / span(marks).as_secs_f64())
    }
}

/// Runs a pipeline for about `window`, its source on the calling thread.
///
/// # Errors
/// What the machine doesn't have or refused.
pub(super) fn run(bench: &Bench, line: &Line, offered: Offered, window: Nanos) -> Result<Outcome, Unavailable> {
    let platform = bench.platform();
    let rings = (0..line.workers).map(|_| Ok(Ring::new(line.queue, handoffs(platform, line.kind)?)));
    let shared = Arc::new(Shared {
        bench: bench.clone(),
        line: line.clone(),
        offered,
        rings: rings.collect::<Result<_, Unavailable>>()?,
        ready: AtomicUsize::new(0),
        is_broken: AtomicBool::new(false),
        refused: OnceLock::new(),
        give_up_at: OnceLock::new(),
        counted: OnceLock::new(),
        ended: Mutex::default(),
    });
    let mut workers = Vec::with_capacity(line.workers);
    let mut refused = None;
    for stage in 0..line.workers {
        let there = Arc::clone(&shared);
        match platform.spawn("worker", Box::new(move || work_or_refuse(&there, stage))) {
            Ok(worker) => workers.push(worker),
            Err(reason) => {
                shared.break_off();
                refused = Some(reason);
                break;
            }
        }
    }
    let sent = if refused.is_none() { source(&shared, window) } else { Ok(Sent::default()) };
    if shared.is_over() {
        shared.break_off();
    }
    shared.rings[0].close();
    workers.into_iter().for_each(|worker| worker.join());
    if let Some(reason) = refused.or_else(|| shared.refused.get().cloned()) {
        return Err(reason);
    }
    Ok(outcome(&shared, sent?))
}

/// Two hand-offs for a ring whose sides block: condition variables, or what the machine has instead.
fn handoffs(platform: &dyn Platform, kind: Kind) -> Result<Option<[Arc<dyn Handoff>; 2]>, Unavailable> {
    if kind != Kind::Blocking {
        return Ok(None);
    }
    let handoff = platform.handoff("condvar").or_else(|| platform.handoffs().first().map(AsRef::as_ref));
    let handoff = handoff.ok_or(Unavailable::NotOnThisPlatform)?;
    Ok(Some([handoff.open()?, handoff.open()?]))
}

/// What the source did.
#[derive(Default)]
struct Sent {
    /// When it began to send.
    start: Nanos,
    /// How it idled, if it did.
    idling: Option<Idling>,
    /// Items that were due.
    due: u64,
}

fn source(shared: &Shared, window: Nanos) -> Result<Sent, Unavailable> {
    let mut guard = Guard(shared, false);
    let (bench, line) = (&shared.bench, &shared.line);
    let platform = bench.platform();
    let mut idle = Idle::open(bench, line.kind, &line.park, line.grid)?;
    while shared.ready.load(Ordering::Acquire) < line.workers && !shared.is_over() {
        platform.relax();
    }
    let start = platform.now();
    let _ = shared.give_up_at.set(start + window * OVERRUN);
    let sent = match shared.offered {
        Offered::FlatOut => {
            // What the empty queues take at first doesn't count.
            let _ = shared.counted.set((start + Nanos(window.0 / 8), start + window));
            idle.begin(platform);
            flat_out(shared, &mut idle, start + window)?;
            Sent { start, idling: Some(idle.end(platform)), due: 0 }
        }
        Offered::PerSecond(rate) => Sent { start, idling: None, due: paced(shared, rate, start + LEAD, window) },
    };
    guard.1 = true;
    Ok(sent)
}

fn flat_out(shared: &Shared, idle: &mut Idle, until: Nanos) -> Result<(), Unavailable> {
    let (platform, ring) = (shared.bench.platform(), &shared.rings[0]);
    let mut still = StillClock::default();
    loop {
        let room = ring.room().min(BATCH);
        (0..room).for_each(|_| ring.push(0));
        let since = if room > 0 {
            idle.reset();
            Reads::ONE
        } else {
            idle.turn(platform, (ring, Side::Producer), || ring.room() > 0 || shared.is_over())?
        };
        let now = platform.now();
        shared.bench.note(&mut still, now, since);
        if now >= until || shared.is_over() {
            return Ok(());
        }
    }
}

/// When the item of that number is due.
fn due(number: u64, rate: u64, first: Nanos) -> Nanos {
    let after = u128::from(number) * 1_000_000_000 / u128::from(rate.max(1));
    first + Nanos(i64::try_from(after).unwrap_or(i64::MAX))
}

/// Sends items when they are due, or as soon as there is room: they are due all the same.
fn paced(shared: &Shared, rate: u64, first: Nanos, window: Nanos) -> u64 {
    let (platform, ring) = (shared.bench.platform(), &shared.rings[0]);
    let mut still = StillClock::default();
    let mut number = 0;
    while due(number, rate, first) < first + window && !shared.is_over() {
        let at = due(number, rate, first);
        shared.bench.spin_until(at);
        while ring.room() == 0 && !shared.is_over() {
            platform.relax();
            shared.bench.note(&mut still, platform.now(), Reads::ONE);
            if shared.is_late() {
                // All that were due are missed, sent or not.
                let left = (number..).take_while(|&number| due(number, rate, first) < first + window).count();
                return number + left as u64;
            }
        }
        ring.push(at.0);
        number += 1;
    }
    number
}

fn work_or_refuse(shared: &Shared, stage: usize) {
    let mut guard = Guard(shared, false);
    match work(shared, stage) {
        Ok(ended) => {
            guard.1 = true;
            shared.ended.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((stage, ended));
        }
        Err(reason) => {
            let _ = shared.refused.set(reason);
        }
    }
    if let Some(next) = shared.rings.get(stage + 1) {
        next.close();
    }
}

fn work(shared: &Shared, stage: usize) -> Result<Ended, Unavailable> {
    let (bench, line) = (&shared.bench, &shared.line);
    let platform = bench.platform();
    let (input, output) = (&shared.rings[stage], shared.rings.get(stage + 1));
    let mut idle = Idle::open(bench, line.kind, &line.park, line.grid)?;
    let mut ended = Ended::default();
    if let (Offered::PerSecond(_), None) = (shared.offered, output) {
        ended.latencies.reserve(1 << 14);
    }
    idle.begin(platform);
    shared.ready.fetch_add(1, Ordering::AcqRel);
    let (mut owed, mut idle_turns, mut was_idle) = (0_u64, 0_u32, true);
    loop {
        let is_closed = input.is_closed();
        if is_closed && (shared.offered == Offered::FlatOut || input.is_empty()) || shared.is_over() {
            break;
        }
        if output.is_none() && shared.offered == Offered::FlatOut && !input.is_empty() {
            let now = platform.now();
            if shared.counted.get().is_some_and(|&(from, to)| from <= now && now <= to) {
                ended.marks.note(now, ended.items, was_idle);
            }
        }
        let room = output.map_or(BATCH, |output| output.room().min(BATCH));
        let mut moved = 0;
        while moved < room
            && let Some(item) = input.pop()
        {
            moved += 1;
            if output.is_none() && shared.offered != Offered::FlatOut {
                ended.latencies.push((Nanos(item), platform.now() - Nanos(item)));
            }
            owed += line.milli_units;
            if owed >= 1_000 {
                platform.work(owed / 1_000);
                owed %= 1_000;
            }
            if let Some(output) = output {
                output.push(item);
            }
        }
        ended.items += moved as u64;
        was_idle = moved == 0;
        if moved > 0 {
            idle.reset();
            continue;
        }
        _ = match output.filter(|output| output.room() == 0) {
            Some(full) => idle.turn(platform, (full, Side::Producer), || full.room() > 0 || shared.is_over())?,
            None => {
                let has_reason = || !input.is_empty() || input.is_closed() || shared.is_over();
                idle.turn(platform, (input, Side::Consumer), has_reason)?
            }
        };
        idle_turns = idle_turns.wrapping_add(1);
        if idle_turns.is_multiple_of(TURNS_PER_LOOK) && shared.is_late() {
            shared.break_off();
            break;
        }
    }
    ended.idling = idle.end(platform);
    Ok(ended)
}

fn outcome(shared: &Shared, sent: Sent) -> Outcome {
    let now = shared.bench.platform().now();
    let ended = std::mem::take(&mut *shared.ended.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    let mut idling = sent.idling;
    let mut last = Ended::default();
    for (stage, one) in ended {
        match &mut idling {
            Some(all) => all.add_thread(&one.idling),
            None => idling = Some(one.idling.clone()),
        }
        if stage + 1 == shared.rings.len() {
            last = one;
        }
    }
    let idling = Idling { window_ns: now - sent.start, items: last.items, ..idling.unwrap_or_default() };
    let missed = match shared.offered {
        Offered::PerSecond(rate) if !shared.bench.stopped() => {
            let due = (last.latencies.len() as u64..sent.due).map(|number| due(number, rate, sent.start + LEAD));
            due.map(|at| (at, now - at)).collect()
        }
        _ => Vec::new(),
    };
    Outcome { idling, rate: last.marks.rate(), latencies: last.latencies, missed, due: sent.due }
}
