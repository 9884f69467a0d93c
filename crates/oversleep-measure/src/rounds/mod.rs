//! Interleaving: round after round of every probe, each on a new thread under its own conditions.

mod company;
mod held;
mod overdue;
mod progress;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

use oversleep_record::conditions::LoadSpec;
use oversleep_record::series::{Series, Status};
use oversleep_record::{Disturbance, Nanos, Unavailable};
use oversleep_system::{Load, Platform, processor_between};

use super::bench::Bench;
use super::live::{LiveValues, RunningFigures};
use super::pauses::Watching;
use super::probe::{Measured, Probe};
use super::recorder::SeriesRecorder;
use company::{members_max, run_together};
use held::{apply, held_now, no_longer_held, note_outcomes};
use overdue::{Guard, Unfinished, end_if_overdue, limit};
use progress::LONG_ROUND;

pub use progress::{Progress, Silent, Step};

/// The name of measuring threads. A panic of one becomes the reason why its series is unavailable, and the run continues.
pub const MEASURING_THREAD: &str = "measure";

/// A probe and the number of its completed rounds. The runner and the measuring threads hold it in turn.
struct Entry {
    probe: Arc<Mutex<Box<dyn Probe>>>,
    rounds_run: u32,
    rounds: u32,
    is_essential: bool,
    /// With whom it may share the time of a round.
    company: Option<Nanos>,
    /// Whether its rounds so far suffice.
    is_settled: bool,
    /// The estimated duration of a round.
    estimate: Nanos,
    /// The duration of a round: first estimated, then that of the last one.
    round_time: Nanos,
    /// Why its thread was abandoned, which holds the probe forever.
    left: Option<Unavailable>,
    /// The series before the current round, in case its thread has to be abandoned.
    earlier: Vec<Series>,
}

impl Entry {
    fn new(mut probe: Box<dyn Probe>) -> Entry {
        let earlier = series_of(&mut *probe);
        let (rounds, is_essential, round_time) = (probe.rounds(), probe.is_essential(), probe.round_estimate());
        let company = probe.company();
        let probe = Arc::new(Mutex::new(probe));
        Entry {
            probe,
            rounds_run: 0,
            rounds,
            is_essential,
            company,
            is_settled: false,
            estimate: round_time,
            round_time,
            left: None,
            earlier,
        }
    }

    /// The duration of its remaining essential rounds.
    fn essential_left(&self) -> Nanos {
        let is_wanted = self.is_essential && self.needs_more();
        if is_wanted { self.round_time * i64::from(self.rounds - self.rounds_run) } else { Nanos::ZERO }
    }

    /// Whether it can have more rounds, and they would tell something.
    fn needs_more(&self) -> bool {
        self.left.is_none() && !self.is_settled
    }

    /// Whether its next round is due in that round of all. The rounds of a probe with few rounds are distributed over the
    /// whole run, the first one early in case the run is cut short.
    fn is_due(&self, round: u32, rounds_max: u32) -> bool {
        let due = ((u64::from(round) + 1) * u64::from(self.rounds)).div_ceil(u64::from(rounds_max));
        self.needs_more() && u64::from(self.rounds_run) < due
    }

    /// Notes that a round begins.
    fn begin(&mut self) {
        if self.rounds_run > 0 {
            self.earlier = series_of(&mut **lock(&self.probe));
        }
        self.rounds_run += 1;
    }

    /// Notes how a round ended, and how long it took.
    fn end(&mut self, outcome: Result<(), Unfinished>, round_time: Nanos) {
        self.round_time = round_time;
        match outcome {
            Ok(()) => {
                let is_settled = self.probe().is_settled() == Some(true);
                self.is_settled = is_settled;
            }
            Err(Unfinished::Left(reason)) => self.left = Some(reason),
            Err(Unfinished::Ended(reason)) => {
                self.probe().recorders().into_iter().for_each(|recorder| recorder.unavailable(reason.clone()));
            }
        }
    }

    fn probe(&self) -> MutexGuard<'_, Box<dyn Probe>> {
        lock(&self.probe)
    }
}

fn series_of(probe: &mut dyn Probe) -> Vec<Series> {
    probe.recorders().into_iter().map(|recorder| recorder.series().clone()).collect()
}

/// A probe that panicked keeps its earlier measurements, so a poisoned lock is still usable.
fn lock(probe: &Mutex<Box<dyn Probe>>) -> MutexGuard<'_, Box<dyn Probe>> {
    probe.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Runs every probe until its rounds are done, the bench is stopped, or `time_max` has passed (checked between rounds).
/// On a busy machine everything takes longer; because rounds are interleaved, each series then lacks its last ones.
/// Essential probes come first: others only use the remaining time.
pub fn measure(
    bench: &Bench,
    probes: Vec<Box<dyn Probe>>,
    time_max: Option<Nanos>,
    progress: &mut dyn Progress,
    measured: &mut Measured,
) {
    let begun = bench.platform().now();
    let left = || time_max.map(|time_max| time_max - (bench.platform().now() - begun));
    let rounds_max = probes.iter().map(|probe| probe.rounds()).max().unwrap_or(0);
    let total: Nanos = probes.iter().map(|probe| probe.round_estimate() * i64::from(probe.rounds())).sum();
    let mut done = Nanos::ZERO;
    let mut entries: Vec<Entry> = probes.into_iter().map(Entry::new).collect();
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&at| entries[at].probe().rank());
    // On a single CPU, showing figures during a round would delay what it measures.
    let shows = progress.shows_figures() && bench.platform().cpus().len() > 1;
    for round in 0..rounds_max {
        for &at in &order {
            let entry = &entries[at];
            let essential_left: Nanos = entries.iter().map(Entry::essential_left).sum();
            let gives_way = !entry.is_essential && essential_left > Nanos::ZERO;
            let reserved = if gives_way { essential_left + entry.round_time } else { Nanos::ZERO };
            let is_time_up = || left().is_some_and(|left| left < reserved);
            if !entry.is_due(round, rounds_max) || bench.stopped() || is_time_up() {
                continue;
            }
            let round_begun = bench.platform().now();
            let label = entry.probe().label();
            let estimate = entry.probe().round_estimate();
            let figures = if progress.shows_figures() { figures(&mut **entry.probe()) } else { None };
            progress.next(&Step { done, total, label: &label, figures });
            let together = company_of(&entries, at, &order, |entry| entry.is_due(round, rounds_max));
            together.iter().for_each(|&at| entries[at].begin());
            let outcomes = match (&together[..], entries[at].company) {
                ([_, _, ..], Some(every)) => {
                    let probes: Vec<_> = together.iter().map(|&at| Arc::clone(&entries[at].probe)).collect();
                    run_together(bench, &probes, every)
                }
                _ => {
                    let mut meanwhile = |passed: Nanos, live: &LiveValues| {
                        let done = done + passed.min(estimate);
                        progress.next(&Step { done, total, label: &label, figures: live.figures() });
                    };
                    vec![run_round(bench, &entries[at].probe, shows.then_some(&mut meanwhile))]
                }
            };
            let round_time = bench.platform().now() - round_begun;
            for (&at, outcome) in together.iter().zip(outcomes) {
                let entry = &mut entries[at];
                entry.end(outcome, round_time);
                let over = if entry.needs_more() { 1 } else { entry.rounds + 1 - entry.rounds_run };
                done += entry.estimate * i64::from(over);
            }
        }
    }
    for Entry { probe, rounds_run, is_settled, left, earlier, .. } in entries {
        if let Some(reason) = left {
            let status = Status::Unavailable { reason };
            measured.series.extend(earlier.into_iter().map(|series| Series { status: status.clone(), ..series }));
            continue;
        }
        let probe = Arc::into_inner(probe).expect("the measuring threads have ended");
        let mut probe = probe.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let partial = (rounds_run < probe.rounds() && !is_settled) || bench.stopped();
        if let Some(reason) = bench.fault().filter(|_| partial) {
            probe.recorders().into_iter().for_each(|recorder| recorder.unavailable(reason.clone()));
        }
        let settled = probe.is_settled();
        for recorder in probe.recorders() {
            let has_values = recorder.series().has_values();
            recorder.series_mut().settled = settled.filter(|_| has_values);
        }
        probe.finish(partial, measured);
    }
}

/// The entries whose rounds run at the same time as that one's: itself, and those after it in the order that may share its
/// time and are due.
fn company_of(entries: &[Entry], at: usize, order: &[usize], is_due: impl Fn(&Entry) -> bool) -> Vec<usize> {
    let Some(every) = entries[at].company else { return vec![at] };
    let later = order.iter().copied().skip_while(|&other| other != at);
    later
        .filter(|&other| entries[other].company == Some(every) && is_due(&entries[other]))
        .take(members_max(every))
        .collect()
}

/// The figures of a probe's first series between two rounds.
fn figures(probe: &mut dyn Probe) -> Option<RunningFigures> {
    probe.recorders().first().and_then(|recorder| progress::figures(recorder))
}

/// Shows the values of a long round, and how much of it has passed.
type Meanwhile<'a> = &'a mut dyn FnMut(Nanos, &LiveValues);

/// Runs one round on a separate thread, so that all its changes end with the thread at the latest.
///
/// # Errors
/// Why the round couldn't be measured.
fn run_round(
    bench: &Bench,
    probe: &Arc<Mutex<Box<dyn Probe>>>,
    meanwhile: Option<Meanwhile<'_>>,
) -> Result<(), Unfinished> {
    let (loads, limit, live, mut guard) = {
        let mut probe = lock(probe);
        let recorders = probe.recorders();
        if !recorders.is_empty() && recorders.iter().all(|recorder| recorder.is_unavailable()) {
            return Ok(());
        }
        let needs_guard = recorders.iter().any(|recorder| needs_guard(recorder));
        let limit = limit(probe.round_estimate());
        // In virtual time the thread ends as soon as it is joined, so no guard is needed.
        let has_guard = needs_guard && !bench.platform().time_is_virtual();
        let guard = has_guard.then(|| Guard::new(bench.platform()));
        let live = meanwhile.filter(|_| probe.round_estimate() > LONG_ROUND).and_then(|meanwhile| {
            let live = Arc::new(progress::live_values(probe.recorders().first()?)?);
            probe.recorders().into_iter().next()?.share_values(Some(Arc::clone(&live)));
            Some((meanwhile, live))
        });
        (start_loads(bench.platform(), &probe.conditions().load)?, limit, live, guard)
    };
    let (bench_there, round_over) = bench.for_a_round();
    let there = Arc::clone(probe);
    let body = Box::new(move || run_on_this_thread(&bench_there, &mut **lock(&there)));
    let thread = bench.platform().spawn_watched(MEASURING_THREAD, body)?;
    let mut shown = Nanos::ZERO;
    let mut each = live.map(|(meanwhile, live)| {
        move |passed: Nanos| {
            if passed - shown >= LONG_ROUND {
                shown = passed;
                meanwhile(passed, &live);
            }
        }
    });
    let each = each.as_mut().map(|each| each as &mut dyn FnMut(Nanos));
    let overdue = end_if_overdue(bench.platform(), &*thread, limit, &round_over, guard.as_mut(), each);
    if let Some(Unfinished::Left(reason)) = overdue {
        return Err(Unfinished::Left(reason));
    }
    // The thread's changes were restored when its stack unwound.
    let ended = catch_unwind(AssertUnwindSafe(|| thread.join()));
    drop(loads);
    if let Some(stopped) = guard.and_then(|guard| guard.stopped(bench.platform())) {
        lock(probe).recorders().into_iter().for_each(|recorder| recorder.note_stopped(stopped));
    }
    ended.map_err(|panic| {
        Unavailable::failed("measuring", format!("the thread panicked ({})", panic_message(&*panic)))
    })?;
    overdue.map_or(Ok(()), Err)
}

/// A round on the calling thread, between two readings of the machine's counters.
fn run_on_this_thread(bench: &Bench, probe: &mut dyn Probe) {
    let platform = bench.platform();
    let (outcomes, _guards) = apply(platform, probe.conditions());
    let held = held_now(platform, &outcomes);
    // The processor's gauges are the slowest to read, so they are read outside the counters' window.
    let processor_before = platform.processor_state();
    for recorder in probe.recorders() {
        // In virtual time nothing is late by an allocation, and 262 KB a distribution would be most of what a model does.
        if !platform.time_is_virtual() {
            recorder.series_mut().prepare();
        }
        note_outcomes(&mut recorder.series_mut().conditions, &outcomes);
        recorder.begin_round(bench.since_origin(bench.stamp()));
    }
    let before = platform.counters();
    for recorder in probe.recorders() {
        if watching(recorder) == Watching::Values {
            recorder.watch_pauses(Arc::clone(bench.shared_platform()), before);
        }
    }
    let outcome = probe.round(bench);
    let after = platform.counters();
    let processor = processor_between(&processor_before, &platform.processor_state());
    let seen = before.until(&after);
    let disturbance = Disturbance { processor, stalled_ns: stopped(probe), ..seen };
    let lost = no_longer_held(&held, &held_now(platform, &outcomes));
    for recorder in probe.recorders() {
        note_outcomes(&mut recorder.series_mut().conditions, &lost);
        recorder.share_values(None);
        recorder.end_round(disturbance);
        if let Err(reason) = &outcome {
            recorder.unavailable(reason.clone());
        }
    }
}

/// A runtime waits in another process, whose stops this one doesn't notice.
fn watching(recorder: &SeriesRecorder) -> Watching {
    let series = recorder.series();
    if series.runtime.is_some() { Watching::Nothing } else { Watching::of(series.quantity) }
}

/// Whether the values alone don't show stops: too few of them don't tell what is usual.
fn needs_guard(recorder: &SeriesRecorder) -> bool {
    match watching(recorder) {
        Watching::Values => recorder.expected() < VALUES_MIN,
        Watching::Guard => true,
        Watching::Nothing => false,
    }
}

/// From so many expected values on, most of them come after the usual lateness is known.
const VALUES_MIN: usize = 10;

/// How long this process was stopped, by the values of the round. All series of one thread show the same stops.
fn stopped(probe: &mut dyn Probe) -> Option<Nanos> {
    probe.recorders().into_iter().filter_map(|recorder| recorder.stopped_in_round()).max()
}

/// The message of a panic, from its payload.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

fn start_loads(platform: &dyn Platform, specs: &[LoadSpec]) -> Result<Vec<Box<dyn Load>>, Unavailable> {
    specs.iter().map(|spec| platform.load(&spec.kind).ok_or(Unavailable::NotOnThisPlatform)?.start(spec.hogs)).collect()
}

#[cfg(test)]
mod tests;
