//! What tracers count and note, for the report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::settings::Settings;
use crate::linux::process::lock::lock;
use crate::linux::process::ptrace::Tid;
use crate::plan::Described;
use crate::report::{AdapterUsed, Refused, Report, Tally};

/// What tracers counted and noted.
#[derive(Default)]
pub struct Counts {
    execs: AtomicU64,
    threads: AtomicU64,
    threads_max: AtomicU64,
    /// How many programs have their memory locked, and the last error of one that hasn't.
    locked: AtomicU64,
    not_locked: AtomicI32,
    /// The adapters that were applied.
    adapters: Mutex<BTreeSet<Described>>,
    /// The names of the programs that have none.
    unrecognised: Mutex<BTreeSet<String>>,
    /// How often each program wasn't run, by reason.
    refused: Mutex<BTreeMap<(String, &'static str), u64>>,
    tallies: Mutex<Tallies>,
}

/// Tallies of waits. Those of tracers that have ended share one, so that it doesn't grow with every burst of threads.
#[derive(Default)]
struct Tallies {
    active: Vec<Arc<Mutex<Tally>>>,
    ended: u64,
    of_ended: Tally,
}

impl Counts {
    /// The tally of one more tracer.
    pub fn begin_tally(&self) -> Arc<Mutex<Tally>> {
        let tally = Arc::<Mutex<Tally>>::default();
        lock(&self.tallies).active.push(Arc::clone(&tally));
        tally
    }

    /// A tracer has ended.
    pub fn end_tally(&self, tally: &Arc<Mutex<Tally>>) {
        let mut tallies = lock(&self.tallies);
        tallies.active.retain(|other| !Arc::ptr_eq(other, tally));
        tallies.ended += 1;
        tallies.of_ended.merge(&lock(tally));
    }

    pub fn count_exec(&self) {
        self.execs.fetch_add(1, Ordering::Relaxed);
    }

    pub fn count_thread(&self) {
        let count = self.threads.fetch_add(1, Ordering::Relaxed) + 1;
        self.threads_max.fetch_max(count, Ordering::Relaxed);
    }

    pub fn uncount_thread(&self) {
        self.threads.fetch_sub(1, Ordering::Relaxed);
    }

    /// A program had its memory locked, or couldn't for that error.
    pub fn count_locked(&self, error: i32) {
        match error {
            0 => _ = self.locked.fetch_add(1, Ordering::Relaxed),
            error => self.not_locked.store(error, Ordering::Relaxed),
        }
    }

    pub fn note_adapters(&self, described: &[Described]) {
        lock(&self.adapters).extend(described.iter().cloned());
    }

    pub fn note_unrecognised(&self, program: String) {
        lock(&self.unrecognised).insert(program);
    }

    /// A program isn't run, for that reason. Returns its name the first time; a script may try one again and again.
    pub fn note_refused(&self, process: Tid, why: &'static str) -> Option<String> {
        let program = std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        let program = program.to_string_lossy().into_owned();
        let mut refused = lock(&self.refused);
        let count = refused.entry((program.clone(), why)).or_default();
        *count += 1;
        (*count == 1).then_some(program)
    }

    /// The report, but for clocks and waits without a stop, which `add` counts.
    pub fn report(&self, settings: &Settings, add: impl FnOnce(&mut Tally)) -> Report {
        let (tracers, mut all) = {
            let tallies = lock(&self.tallies);
            let mut sum = Tally::default();
            sum.merge(&tallies.of_ended);
            tallies.active.iter().for_each(|tally| sum.merge(&lock(tally)));
            (tallies.ended + tallies.active.len() as u64, sum)
        };
        add(&mut all);
        Report {
            program: settings.typed.clone(),
            execs: self.execs.load(Ordering::Relaxed),
            threads_max: self.threads_max.load(Ordering::Relaxed),
            tracers,
            own_wake_up: settings.own_wake_up.clone(),
            adapters: self.adapters(settings),
            locked: self.locked.load(Ordering::Relaxed),
            refused: self.refused(),
            not_locked: Some(self.not_locked.load(Ordering::Relaxed)).filter(|&error| error != 0),
            ..all.into_report(settings.machine().to_owned())
        }
    }

    /// The adapters that were applied.
    fn adapters(&self, settings: &Settings) -> Vec<AdapterUsed> {
        let row = |one: Described| AdapterUsed {
            runtime: one.runtime,
            does: one.does,
            source: one.source,
            evidence: one.evidence,
        };
        let others: Vec<String> = lock(&self.unrecognised).iter().cloned().collect();
        let plain = settings.plan.as_ref().filter(|plan| plan.is_of_another_system() && !others.is_empty());
        let plain = plain.filter(|_| settings.has_adapters).map(|plan| plan.plain(&others.join(", ")));
        lock(&self.adapters).iter().cloned().chain(plain).map(row).collect()
    }

    /// The programs that weren't run.
    fn refused(&self) -> Vec<Refused> {
        let row = |((program, why), &count): (&(String, &'static str), &u64)| Refused {
            program: program.clone(),
            why: (*why).to_owned(),
            count,
        };
        lock(&self.refused).iter().map(row).collect()
    }
}
