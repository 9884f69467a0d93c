//! A machine for tests: all processes share one timer, and the finest request of any process counts. It is built around
//! the modelled machine, which keeps the time.

use std::sync::{Arc, Mutex};

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::environment::{Environment, PlatformId};
use oversleep_record::{Nanos, Unavailable};

use super::testing;
use oversleep_model::sim::{Overshoot, Sim};
use oversleep_system::*;

const DEFAULT_PERIOD: Nanos = Nanos(15_625_000);

/// What all processes requested.
type Requests = Arc<Mutex<Vec<Nanos>>>;

fn period(requests: &Requests) -> Nanos {
    requests.lock().unwrap().iter().copied().min().unwrap_or(DEFAULT_PERIOD).min(DEFAULT_PERIOD)
}

/// The machine.
pub(crate) struct Ticking {
    sim: Arc<Sim>,
    requests: Requests,
    refused: Option<Nanos>,
    /// Neighbours with this setting live so long.
    short_lived: Option<(Nanos, Nanos)>,
    clocks: Vec<Box<dyn Clock>>,
    waits: Vec<Box<dyn Wait>>,
    tunables: Vec<Box<dyn Tunable>>,
}

impl Ticking {
    pub(crate) fn start() -> Ticking {
        let sim = Sim::start(testing::machine().with_wait("exact", Overshoot::Fixed(Nanos::ZERO)).build());
        let requests = Requests::default();
        let (of_clock, of_wait, of_tunable) = (Arc::clone(&requests), Arc::clone(&requests), Arc::clone(&requests));
        let sleep = sim.waits().iter().find(|wait| wait.info().name == "exact").expect("just added").info().clone();
        Ticking {
            clocks: vec![Box::new(TickClock { sim: Arc::clone(&sim), requests: of_clock })],
            waits: vec![Box::new(TickSleep {
                info: WaitInfo {
                    name: "sleep",
                    granularity: Granularity::MILLISECOND,
                    slack: SlackRule::TimerResolution,
                    ..sleep
                },
                sim: Arc::clone(&sim),
                requests: of_wait,
            })],
            tunables: vec![Box::new(Resolution { requests: of_tunable })],
            refused: None,
            short_lived: None,
            requests,
            sim,
        }
    }

    pub(crate) fn refusing(mut self, setting: Nanos) -> Ticking {
        self.refused = Some(setting);
        self
    }

    pub(crate) fn killing(mut self, setting: Nanos, after: Nanos) -> Ticking {
        self.short_lived = Some((setting, after));
        self
    }

    pub(crate) fn neighbours_alive(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

struct Process {
    requested: Option<Nanos>,
    outcome: Option<Outcome>,
    requests: Requests,
    dies_at: Option<Nanos>,
    sim: Arc<Sim>,
}

impl Neighbour for Process {
    fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    fn check(&mut self) -> Result<(), Unavailable> {
        if self.dies_at.is_none_or(|at| self.sim.now() < at) {
            return Ok(());
        }
        self.release();
        Err(Unavailable::failed("holding the setting in a neighbour process", "the process ended (signal: 9)"))
    }
}

impl Process {
    /// What it holds ends with it.
    fn release(&mut self) {
        let mut requests = self.requests.lock().unwrap();
        if let Some(at) = self.requested.take().and_then(|held| requests.iter().position(|request| *request == held)) {
            requests.remove(at);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.release();
    }
}

struct TickClock {
    sim: Arc<Sim>,
    requests: Requests,
}

impl Clock for TickClock {
    fn info(&self) -> &ClockInfo {
        static INFO: ClockInfo =
            ClockInfo { name: "tick-clock", call: "tick-clock", doc: "Modelled.", ..clocks::COMMON };
        &INFO
    }
    fn available(&self) -> Result<(), Unavailable> {
        Ok(())
    }
    fn stated_frequency_hz(&self) -> Option<u64> {
        Some(1_000_000_000)
    }
    fn stated_step_ns(&self) -> Option<Nanos> {
        Some(DEFAULT_PERIOD)
    }
    fn read(&self) -> u64 {
        // A read that takes time keeps polling short.
        self.sim.relax();
        self.sim.now().round_down_to(period(&self.requests)).0 as u64
    }
    fn read_batch(&self, count: u64) {
        (0..count).for_each(|_| {
            std::hint::black_box(self.read());
        });
    }
    fn read_into(&self, out: &mut [u64]) {
        out.fill_with(|| self.read());
    }
}

#[derive(Clone)]
struct TickSleep {
    info: WaitInfo,
    sim: Arc<Sim>,
    requests: Requests,
}

impl Wait for TickSleep {
    fn info(&self) -> &WaitInfo {
        &self.info
    }
    fn open(&self, _: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        Ok(Box::new(self.clone()))
    }
}

impl Waiter for TickSleep {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let now = self.sim.now();
        let end = (now + self.info.rounded(target.remaining)).round_up_to(period(&self.requests));
        let platform: SharedPlatform = self.sim.clone();
        let exact = platform.wait("exact").expect("of this machine").open(&platform);
        exact.expect("a model never refuses").wait(Target { remaining: end - now, deadline: end })
    }
}

struct Resolution {
    requests: Requests,
}

impl Tunable for Resolution {
    fn info(&self) -> &TunableInfo {
        static INFO: TunableInfo = TunableInfo {
            name: "resolution",
            call: "model",
            doc: "Modelled.",
            scope: Scope::MachineWhileHeld,
            sets_resolution: true,
            ..tunables::COMMON
        };
        &INFO
    }
    fn current(&self) -> Result<Setting, Unavailable> {
        Ok(Setting::Nanos(period(&self.requests)))
    }
    fn apply(&self, _: &Setting) -> (Outcome, Option<Box<dyn Restore>>) {
        unreachable!("the process under test requests nothing")
    }
    fn settings_to_compare(&self) -> Vec<Setting> {
        vec![Setting::Nanos(Nanos(500_000))]
    }
}

impl Platform for Ticking {
    fn id(&self) -> PlatformId {
        self.sim.id()
    }
    fn now(&self) -> Nanos {
        self.sim.now()
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
        &self.clocks
    }
    fn waits(&self) -> &[Box<dyn Wait>] {
        &self.waits
    }
    fn handoffs(&self) -> &[Box<dyn HandoffKind>] {
        &[]
    }
    fn tunables(&self) -> &[Box<dyn Tunable>] {
        &self.tunables
    }
    fn loads(&self) -> &[Box<dyn LoadKind>] {
        &[]
    }
    fn cpus(&self) -> Vec<Cpu> {
        self.sim.cpus()
    }
    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
        self.sim.spawn(name, body)
    }
    fn neighbour(&self, setting: Option<&Setting>) -> Result<Box<dyn Neighbour>, Unavailable> {
        let requested = match setting {
            Some(Setting::Nanos(requested)) => Some(*requested),
            _ => None,
        };
        if requested.is_some() && requested == self.refused {
            let why = Unavailable::not_permitted("this request", "ask for another");
            return Ok(Box::new(Process {
                requested: None,
                outcome: Some(Outcome::Denied { why }),
                requests: Requests::default(),
                dies_at: None,
                sim: Arc::clone(&self.sim),
            }));
        }
        self.requests.lock().unwrap().extend(requested);
        let outcome = setting.map(|setting| Outcome::Applied { was: None, now: setting.clone() });
        let life = self.short_lived.filter(|(setting, _)| requested == Some(*setting)).map(|(_, life)| life);
        let dies_at = life.map(|life| self.sim.now() + life);
        let (requests, sim) = (Arc::clone(&self.requests), Arc::clone(&self.sim));
        Ok(Box::new(Process { requested, outcome, requests, dies_at, sim }))
    }
    fn environment(&self) -> Environment {
        self.sim.environment()
    }
    fn counters(&self) -> CounterReading {
        self.sim.counters()
    }
    fn splitter(&self) -> Result<Box<dyn Splitter>, Unavailable> {
        self.sim.splitter()
    }
    fn abilities(&self) -> Vec<Ability> {
        Vec::new()
    }
    fn unix_time_s(&self) -> Option<i64> {
        None
    }
}
