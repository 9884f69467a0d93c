//! A machine for tests: all processes share one timer, and the shortest request of any process applies. It wraps the
//! modelled machine, which keeps the time.

use std::sync::{Arc, Mutex};

use oversleep_model::sim::{Overshoot, Sim};
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::*;

use super::testing::{self, Altered};

const DEFAULT_PERIOD: Nanos = Nanos(15_625_000);

/// The requests of all processes.
type Requests = Arc<Mutex<Vec<Nanos>>>;

fn period(requests: &Requests) -> Nanos {
    requests.lock().unwrap().iter().copied().min().unwrap_or(DEFAULT_PERIOD).min(DEFAULT_PERIOD)
}

/// The machine.
pub(crate) fn machine() -> Altered {
    of(None, None)
}

/// A machine whose neighbours can't hold this setting.
pub(crate) fn refusing(setting: Nanos) -> Altered {
    of(Some(setting), None)
}

/// A machine where a neighbour that holds this setting ends after that time.
pub(crate) fn killing(setting: Nanos, after: Nanos) -> Altered {
    of(None, Some((setting, after)))
}

/// Whether no process holds a setting.
pub(crate) fn has_default_period(machine: &dyn Platform) -> bool {
    machine.resolution_tunable().expect("it has one").current() == Ok(Setting::Nanos(DEFAULT_PERIOD))
}

fn of(refused: Option<Nanos>, short_lived: Option<(Nanos, Nanos)>) -> Altered {
    let sim = Sim::start(testing::machine().with_wait("exact", Overshoot::Fixed(Nanos::ZERO)).build());
    let requests = Requests::default();
    let (of_clock, of_wait, of_tunable) = (Arc::clone(&requests), Arc::clone(&requests), Arc::clone(&requests));
    let sleep = sim.waits().iter().find(|wait| wait.info().name == "exact").expect("just added").info().clone();
    let info =
        WaitInfo { name: "sleep", granularity: Granularity::MILLISECOND, slack: SlackRule::TimerResolution, ..sleep };
    let clock = TickClock { sim: Arc::clone(&sim), requests: of_clock };
    let wait = TickSleep { info, sim: Arc::clone(&sim), requests: of_wait };
    let neighbours = Neighbours { sim: Arc::clone(&sim), requests, refused, short_lived };
    let mut machine = Altered::around(sim).changing(Resolution { requests: of_tunable });
    machine.clocks = Some(vec![Box::new(clock)]);
    machine.waits = Some(vec![Box::new(wait)]);
    machine.start_neighbour = Some(Box::new(move |setting| Ok(Box::new(neighbours.start(setting)))));
    machine
}

struct Neighbours {
    sim: Arc<Sim>,
    requests: Requests,
    refused: Option<Nanos>,
    /// The lifetime of neighbours with this setting.
    short_lived: Option<(Nanos, Nanos)>,
}

impl Neighbours {
    fn start(&self, setting: Option<&Setting>) -> Process {
        let requested = match setting {
            Some(Setting::Nanos(requested)) => Some(*requested),
            _ => None,
        };
        let sim = Arc::clone(&self.sim);
        if requested.is_some() && requested == self.refused {
            let why = Unavailable::not_permitted("this request", "ask for another");
            let (outcome, requests) = (Some(Outcome::Denied { why }), Requests::default());
            return Process { requested: None, outcome, requests, dies_at: None, sim };
        }
        self.requests.lock().unwrap().extend(requested);
        let outcome = setting.map(|setting| Outcome::Applied { was: None, now: setting.clone() });
        let life = self.short_lived.filter(|(setting, _)| requested == Some(*setting)).map(|(_, life)| life);
        let dies_at = life.map(|life| sim.now() + life);
        Process { requested, outcome, requests: Arc::clone(&self.requests), dies_at, sim }
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
    /// Releases its setting.
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
        // Polling stays short because a read takes time.
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
