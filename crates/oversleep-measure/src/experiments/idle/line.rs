//! One run of a pipeline: a source, and workers that pass items on through bounded queues.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use oversleep_record::{Idling, Nanos, Unavailable};
use oversleep_system::{Handoff, Platform};

use super::marks::Marks;
use super::ring::{Ring, Side};
use super::shared::{BATCH, Ended, Guard, LEAD, Line, Offered, Shared};
use super::source::{Sent, due, source};
use super::strategy::Kind;
use super::worker::Idle;
use crate::bench::Bench;

/// Idle turns between two checks of the clock.
const TURNS_PER_LOOK: u32 = 64;

/// The outcome of a run.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The idling of its threads. A source that paces its items is not included.
    pub idling: Idling,
    /// Items per second, flat out, or why they are unknown.
    pub rate: Result<f64, Unavailable>,
    /// When each item was due, and how long after that it reached its last worker.
    pub latencies: Vec<(Nanos, Nanos)>,
    /// Items that reached no worker by the end: when they were due, and how long before the end that was.
    pub missed: Vec<(Nanos, Nanos)>,
    /// Items that were due.
    pub due: u64,
}

/// Runs a pipeline for about `window`, its source on the calling thread.
///
/// # Errors
/// What the machine lacks or refused.
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
        first_items: Default::default(),
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

/// Two hand-offs for a ring whose sides block: condition variables, or the machine's replacement.
fn handoffs(platform: &dyn Platform, kind: Kind) -> Result<Option<[Arc<dyn Handoff>; 2]>, Unavailable> {
    if kind != Kind::Blocking {
        return Ok(None);
    }
    let handoff = platform.handoff("condvar").or_else(|| platform.handoffs().first().map(AsRef::as_ref));
    let handoff = handoff.ok_or(Unavailable::NotOnThisPlatform)?;
    Ok(Some([handoff.open()?, handoff.open()?]))
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
        let mut is_counted = false;
        if output.is_none() && shared.offered == Offered::FlatOut && !input.is_empty() {
            let now = platform.now();
            shared.first_items[1].get_or_init(|| now);
            is_counted = shared.counted().is_some_and(|(from, to)| from <= now && now <= to);
            if is_counted {
                ended.marks.note(now, ended.items, was_idle);
            }
        } else if stage == 0 && ended.items == 0 && shared.offered == Offered::FlatOut && !input.is_empty() {
            shared.first_items[0].get_or_init(|| platform.now());
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
        if is_counted {
            ended.marks.add(moved as u64);
        }
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
    Outcome { idling, rate: rate(shared, &last.marks), latencies: last.latencies, missed, due: sent.due }
}

/// The throughput, or why it is unknown.
fn rate(shared: &Shared, marks: &Marks) -> Result<f64, Unavailable> {
    let window = shared.counted.get().map_or(Nanos::ZERO, |&(from, to)| to - from);
    marks.rate(window).ok_or_else(|| {
        let last = match shared.rings.len() {
            1 => "the worker".to_owned(),
            workers => format!("the last of {workers} workers"),
        };
        let what = match marks.has_items() {
            true => format!("in {window}, items reached {last} in a few uneven bursts"),
            false => format!("no items reached {last} in a window of {window}"),
        };
        Unavailable::failed("throughput", what + "; measure longer, with --for")
    })
}
