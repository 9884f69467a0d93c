//! Shared code of this crate's tests: runs of probes on a small modelled machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use oversleep_model::sim::{Machine, Sim};
use oversleep_record::conditions::Setting;
use oversleep_record::environment::{Environment, PlatformId};
use oversleep_record::series::{Pace, Series};
use oversleep_record::{ExperimentId, Nanos, Unavailable};
use oversleep_system::{
    Ability, Clock, CounterReading, Cpu, HandoffKind, LoadKind, Neighbour, Platform, SharedPlatform, Splitter,
    ThreadHandle, Tunable, Wait,
};

use super::bench::Bench;
use super::probe::{Measured, Probe};
use super::rounds::{Silent, measure};
use super::stop::StopFlag;
use super::{Amount, WaitProbe};

pub(crate) use oversleep_model::testing::{MachineBuilder, machine};

pub(crate) fn measure_on(platform: Arc<impl Platform + 'static>, probes: Vec<Box<dyn Probe>>) -> Measured {
    let platform: SharedPlatform = platform;
    let bench = Bench::new(platform, StopFlag::new(), None).expect("the reference clock is always there");
    let mut measured = Measured::default();
    measure(&bench, probes, None, &mut Silent, &mut measured);
    measured
}

pub(crate) fn wait_series(machine: MachineBuilder, wait: &str, requested: Nanos, pace: Pace, count: u64) -> Series {
    let sim = Sim::start(machine.build());
    let amount = Amount { count, time: Nanos::MAX, rounds: 1 };
    let probe = WaitProbe::new(&*sim, ExperimentId::B5, wait, requested, amount).paced(pace);
    let measured = measure_on(sim, vec![probe.boxed()]);
    measured.series.into_iter().next().expect("one series")
}

/// The modelled machine with some of its parts altered.
pub(crate) struct Altered {
    sim: Arc<Sim>,
    now: Box<dyn Fn(Nanos) -> Nanos + Send + Sync>,
    counters: Box<dyn Fn(CounterReading) -> CounterReading + Send + Sync>,
    /// Replaces the modelled ones.
    pub(crate) clocks: Option<Vec<Box<dyn Clock>>>,
    pub(crate) waits: Option<Vec<Box<dyn Wait>>>,
    tunables: Option<Vec<Box<dyn Tunable>>>,
    handoffs: Option<Vec<Box<dyn HandoffKind>>>,
    pub(crate) start_neighbour: Option<Box<StartNeighbour>>,
    /// For this many more checks, a thread appears not to have ended.
    pub(crate) stuck_for: Arc<AtomicI64>,
}

/// Starts another process that holds this setting, or none.
type StartNeighbour = dyn Fn(Option<&Setting>) -> Result<Box<dyn Neighbour>, Unavailable> + Send + Sync;

impl Altered {
    pub(crate) fn from(machine: MachineBuilder) -> Altered {
        Altered::of(machine.build())
    }

    pub(crate) fn of(machine: Machine) -> Altered {
        Altered::around(Sim::start(machine))
    }

    pub(crate) fn around(sim: Arc<Sim>) -> Altered {
        Altered {
            sim,
            now: Box::new(|now| now),
            counters: Box::new(|counters| counters),
            clocks: None,
            waits: None,
            tunables: None,
            handoffs: None,
            start_neighbour: None,
            stuck_for: Arc::default(),
        }
    }

    /// The machine with this as its only tunable.
    pub(crate) fn changing(mut self, tunable: impl Tunable + 'static) -> Altered {
        self.tunables = Some(vec![Box::new(tunable)]);
        self
    }

    /// The machine with this as its only hand-off, made from those of the model.
    pub(crate) fn handing_off<K: HandoffKind + 'static>(mut self, kind: impl FnOnce(Arc<Sim>) -> K) -> Altered {
        self.handoffs = Some(vec![Box::new(kind(Arc::clone(&self.sim)))]);
        self
    }

    /// The machine whose threads appear not to have ended at the first `looks` checks.
    pub(crate) fn stuck_for(self, looks: i64) -> Altered {
        self.stuck_for.store(looks, Ordering::Relaxed);
        self
    }

    /// The machine with a reference clock that shows this function of the time. Its stated step is unchanged.
    pub(crate) fn showing(mut self, now: impl Fn(Nanos) -> Nanos + Send + Sync + 'static) -> Altered {
        self.now = Box::new(now);
        self
    }

    /// The machine with these counters.
    pub(crate) fn counting(
        mut self,
        counters: impl Fn(CounterReading) -> CounterReading + Send + Sync + 'static,
    ) -> Altered {
        self.counters = Box::new(counters);
        self
    }
}

struct Stuck(Box<dyn ThreadHandle>, Arc<AtomicI64>);

impl ThreadHandle for Stuck {
    fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
    fn ended_within(&self, _limit: Nanos) -> bool {
        self.1.fetch_sub(1, Ordering::Relaxed) <= 0
    }
    fn join(self: Box<Self>) {
        self.0.join();
    }
}

impl Platform for Altered {
    fn id(&self) -> PlatformId {
        self.sim.id()
    }
    fn now(&self) -> Nanos {
        (self.now)(self.sim.now())
    }
    fn reference_clock(&self) -> &'static str {
        self.sim.reference_clock()
    }
    fn relax(&self) {
        self.sim.relax();
    }
    fn work(&self, units: u64) {
        self.sim.work(units);
    }
    fn clocks(&self) -> &[Box<dyn Clock>] {
        self.clocks.as_deref().unwrap_or_else(|| self.sim.clocks())
    }
    fn waits(&self) -> &[Box<dyn Wait>] {
        self.waits.as_deref().unwrap_or_else(|| self.sim.waits())
    }
    fn handoffs(&self) -> &[Box<dyn HandoffKind>] {
        self.handoffs.as_deref().unwrap_or_else(|| self.sim.handoffs())
    }
    fn tunables(&self) -> &[Box<dyn Tunable>] {
        self.tunables.as_deref().unwrap_or_else(|| self.sim.tunables())
    }
    fn loads(&self) -> &[Box<dyn LoadKind>] {
        self.sim.loads()
    }
    fn cpus(&self) -> Vec<Cpu> {
        self.sim.cpus()
    }
    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
        Ok(Box::new(Stuck(self.sim.spawn(name, body)?, Arc::clone(&self.stuck_for))))
    }
    fn neighbour(&self, setting: Option<&Setting>) -> Result<Box<dyn Neighbour>, Unavailable> {
        self.start_neighbour.as_ref().map_or_else(|| self.sim.neighbour(setting), |start| start(setting))
    }
    fn environment(&self) -> Environment {
        self.sim.environment()
    }
    fn counters(&self) -> CounterReading {
        let counters = self.sim.counters();
        (self.counters)(CounterReading { at: (self.now)(counters.at), ..counters })
    }
    fn splitter(&self) -> Result<Box<dyn Splitter>, Unavailable> {
        self.sim.splitter()
    }
    fn abilities(&self) -> Vec<Ability> {
        self.sim.abilities()
    }
    fn unix_time_s(&self) -> Option<i64> {
        self.sim.unix_time_s()
    }
}
