//! Modelled tunables, each restored by its guard as on a real machine.

use std::sync::Arc;

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{Nanos, Unavailable};

use super::kernel::Kernel;
use super::machine::{Machine, TunableModel};
use super::rules;
use super::settings::{self, Parameter};
use super::timing::Reach;
use oversleep_system::{Reached, Restore, Scope, Tunable, TunableInfo};

struct SimTunable {
    info: TunableInfo,
    parameter: Parameter,
    kernel: Arc<Kernel>,
}

/// Puts a parameter back.
struct Former {
    parameter: Parameter,
    was: Setting,
    kernel: Arc<Kernel>,
}

impl Restore for Former {}

impl Drop for Former {
    fn drop(&mut self) {
        // What it was it can be again.
        let _ = self.parameter.set(&self.kernel, &self.was);
    }
}

/// A request for a resolution, taken back when dropped.
struct Request {
    number: u64,
    kernel: Arc<Kernel>,
}

impl Restore for Request {}

impl Drop for Request {
    fn drop(&mut self) {
        self.kernel.release_resolution(self.number);
    }
}

pub(super) fn registry(machine: &Machine, kernel: &Arc<Kernel>) -> Vec<Box<dyn Tunable>> {
    let tunable = |&model: &TunableModel| -> Box<dyn Tunable> {
        let parameter = Parameter::new(model, machine);
        Box::new(SimTunable { info: info(model), parameter, kernel: Arc::clone(kernel) })
    };
    machine.tunables.iter().map(tunable).collect()
}

fn info(model: TunableModel) -> TunableInfo {
    let (name, call, doc, scope) = match model {
        TunableModel::Slack => (
            "slack",
            "prctl(PR_SET_TIMERSLACK)",
            "How much later than asked the kernel may wake this thread; none under a real-time policy.",
            Scope::Thread,
        ),
        TunableModel::Resolution => (
            "resolution",
            "NtSetTimerResolution",
            "The period of the timer interrupt this process asks for; the shortest request of all processes wins.",
            Scope::Process,
        ),
        TunableModel::LatencyTier => (
            "latency",
            "thread_policy_set(THREAD_LATENCY_QOS_POLICY)",
            "How far this thread's timers are put off: a share of the request, by tier.",
            Scope::Thread,
        ),
        TunableModel::Qos => (
            "qos",
            "pthread_set_qos_class_self_np",
            "The service class of this thread, which decides its latency tier.",
            Scope::Thread,
        ),
        TunableModel::Policy => {
            ("policy", "scheduling policy", "How the scheduler treats this thread against others.", Scope::Thread)
        }
        TunableModel::PowerThrottling => (
            "power-throttling",
            "SetProcessInformation(ProcessPowerThrottling)",
            "Off keeps this process's requests for a resolution while its window can't be seen.",
            Scope::Process,
        ),
        TunableModel::Pin => ("pin", "affinity", "The CPUs this thread may run on.", Scope::Thread),
        TunableModel::DmaLatency => (
            "dma-latency",
            "/dev/cpu_dma_latency",
            "The longest time the machine may take to leave an idle state.",
            Scope::MachineWhileHeld,
        ),
        TunableModel::LockMemory => {
            ("lock-memory", "mlockall", "Accepted: no page of a modelled machine is ever absent.", Scope::Process)
        }
    };
    let sets_resolution = matches!(model, TunableModel::Slack | TunableModel::Resolution | TunableModel::LatencyTier);
    TunableInfo { name, call, doc, scope, sets_resolution, since: "", page: "" }
}

impl SimTunable {
    fn refuse(&self, setting: &Setting) -> (Outcome, Option<Box<dyn Restore>>) {
        (Outcome::Denied { why: Unavailable::Nonsense { what: self.not_a_setting(setting) } }, None)
    }

    fn not_a_setting(&self, setting: &Setting) -> String {
        format!("{}={setting}; give {}", self.info.name, self.parameter.right())
    }
}

impl Tunable for SimTunable {
    fn info(&self) -> &TunableInfo {
        &self.info
    }

    fn current(&self) -> Result<Setting, Unavailable> {
        Ok(self.parameter.get(&self.kernel))
    }

    fn validate(&self, setting: &Setting) -> Result<(), String> {
        if self.parameter.takes(setting) { Ok(()) } else { Err(self.not_a_setting(setting)) }
    }

    fn reached(&self) -> Reached {
        match self.kernel.tick() {
            Some(tick) if matches!(self.parameter, Parameter::Resolution) => match tick.reach {
                Reach::Everyone => Reached::the_machine(),
                Reach::Asker => Reached::who_asks(),
            },
            _ => Reached::by_scope(self.info.scope, self.inherited_by()),
        }
    }

    fn rule(&self) -> Option<String> {
        match self.parameter {
            Parameter::Resolution => rules::of_resolution(&self.kernel),
            Parameter::Slack => Some(format!(
                "timer slack is each thread's own, {} for a new one; what another process holds reaches nobody here",
                self.kernel.timing().default_slack_ns
            )),
            _ => None,
        }
    }

    fn settings_to_compare(&self) -> Vec<Setting> {
        self.parameter.to_compare()
    }

    fn apply(&self, setting: &Setting) -> (Outcome, Option<Box<dyn Restore>>) {
        if !self.parameter.takes(setting) {
            return self.refuse(setting);
        }
        let was = self.parameter.get(&self.kernel);
        if let (Parameter::Resolution, Setting::Nanos(requested)) = (&self.parameter, setting) {
            let Some((number, granted)) = self.kernel.hold_resolution(*requested, true) else {
                return self.refuse(setting);
            };
            let guard = Request { number, kernel: Arc::clone(&self.kernel) };
            let outcome = Outcome::Applied { was: Some(was), now: Setting::Nanos(granted) };
            return (outcome, Some(Box::new(guard)));
        }
        if was == *setting {
            return (Outcome::AlreadySo { is: was }, None);
        }
        match self.parameter.set(&self.kernel, setting) {
            Ok(()) => {
                let former =
                    Former { parameter: self.parameter.clone(), was: was.clone(), kernel: self.kernel.clone() };
                (Outcome::Applied { was: Some(was), now: setting.clone() }, Some(Box::new(former)))
            }
            Err(why) => (Outcome::Denied { why }, None),
        }
    }
}

/// Another process's request, as a neighbour holds it.
pub(super) struct Neighbourly {
    outcome: Option<Outcome>,
    _request: Option<Request>,
}

impl oversleep_system::Neighbour for Neighbourly {
    fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }
}

/// A process that holds that setting of the resolution tunable.
///
/// # Errors
/// What is wrong with the setting.
pub(super) fn neighbour(
    tunable: Option<&dyn Tunable>,
    kernel: &Arc<Kernel>,
    setting: Option<&Setting>,
) -> Result<Neighbourly, Unavailable> {
    let Some(setting) = setting else { return Ok(Neighbourly { outcome: None, _request: None }) };
    let tunable = tunable.ok_or(Unavailable::NotOnThisPlatform)?;
    tunable.validate(setting).map_err(|what| Unavailable::Nonsense { what })?;
    let held = match setting {
        Setting::Nanos(requested) => kernel.hold_resolution(*requested, false),
        _ => None,
    };
    let Some((number, granted)) = held else {
        // Slack and tiers are a thread's own: the other process has it, and nobody else notices.
        let outcome = Outcome::Applied { was: None, now: setting.clone() };
        return Ok(Neighbourly { outcome: Some(outcome), _request: None });
    };
    let now = Setting::Nanos(granted);
    let was = Some(Setting::Nanos(settings::resolution(kernel)));
    let request = Request { number, kernel: Arc::clone(kernel) };
    Ok(Neighbourly { outcome: Some(Outcome::Applied { was, now }), _request: Some(request) })
}

/// The span settings a resolution is compared at: the shortest, the one just longer that serves 1 ms in two ticks, and
/// round ones.
pub(super) const RESOLUTIONS: [Nanos; 7] = [
    Nanos(500_000),
    Nanos(507_000),
    Nanos(1_000_000),
    Nanos(2_000_000),
    Nanos(5_000_000),
    Nanos(10_000_000),
    Nanos(15_625_000),
];
