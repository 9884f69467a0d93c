//! The laboratory in this process: which conditions are available here, and experiments run without the command.

use oversleep_lab::{Laboratory, Request};
use oversleep_measure::{Limit, Plan, Silent, StopFlag, experiment};
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::series::{Pace, Series};
use oversleep_record::{CommandName, Conditions as Requested, ExperimentId, Nanos};
use oversleep_system::{self, Restore};

use crate::Reason;
use crate::machine::Machine;

/// The real-time priority of the comparisons.
pub const PRIORITY: i32 = 80;

/// The conditions that both sides run under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// The CPU they are pinned to.
    pub cpu: u32,
    /// Another CPU, for a main thread that only waits for the measuring one; `None` if there is none.
    pub main_cpu: Option<u32>,
    /// Priority under `SCHED_FIFO`; `None` is `SCHED_OTHER`.
    pub fifo: Option<i32>,
    /// Whether memory is locked.
    pub lock_memory: bool,
}

impl Conditions {
    /// The conditions to compare under on this machine, `SCHED_OTHER` first, and a reason for each that is denied.
    pub fn to_compare(machine: &Machine) -> (Vec<Conditions>, Vec<Reason>) {
        let mut refused = Vec::new();
        let mut is_permitted = |tunable: &str, setting: &Setting| match permitted(tunable, setting) {
            Ok(()) => true,
            Err(reason) => {
                refused.push(format!("{tunable} {setting}: {reason}"));
                false
            }
        };
        let lock_memory = is_permitted("lock-memory", &Setting::Flag(true));
        let cpu = machine.pin();
        let main_cpu = machine.cpus.iter().copied().find(|other| *other != cpu);
        let other = Conditions { cpu, main_cpu, fifo: None, lock_memory };
        let fifo = Conditions { fifo: Some(PRIORITY), ..other };
        let all = if is_permitted("policy", &fifo.policy()) { vec![other, fifo] } else { vec![other] };
        (all, refused)
    }

    /// The policy as a setting of the laboratory.
    pub fn policy(&self) -> Setting {
        match self.fifo {
            Some(priority) => Setting::Policy { policy: "fifo".to_owned(), priority },
            None => Setting::Policy { policy: "other".to_owned(), priority: 0 },
        }
    }

    /// These conditions as the laboratory's request.
    pub fn requested(&self) -> Requested {
        let requested = Requested::as_found().with("policy", self.policy()).with("pin", Setting::Cpus(vec![self.cpu]));
        if self.lock_memory { requested.with("lock-memory", Setting::Flag(true)) } else { requested }
    }

    /// Applies them to the calling thread until the guards are dropped, in reverse order.
    ///
    /// # Errors
    /// Which one the system denied, and why.
    pub fn apply(&self) -> Result<Vec<Box<dyn Restore>>, Reason> {
        let native = oversleep_native::here();
        let mut guards = Vec::new();
        for (name, setting) in &self.requested().requested {
            let tunable = native.tunable(name).ok_or_else(|| format!("no {name} on this platform"))?;
            let (outcome, guard) = tunable.apply(setting);
            if let Outcome::Denied { why } = outcome {
                return Err(format!("{name} {setting}: {why}"));
            }
            guards.extend(guard);
        }
        guards.reverse();
        Ok(guards)
    }
}

/// Tries the setting on a thread of its own, and undoes it at once.
fn permitted(tunable: &str, setting: &Setting) -> Result<(), Reason> {
    let try_it = || {
        let native = oversleep_native::here();
        let tunable = native.tunable(tunable).ok_or_else(|| "not on this platform".to_owned())?;
        match tunable.apply(setting).0 {
            Outcome::Denied { why } => Err(why.to_string()),
            _ => Ok(()),
        }
    };
    std::thread::scope(|scope| scope.spawn(try_it).join().unwrap_or_else(|_| Err("the attempt panicked".to_owned())))
}

/// Runs one experiment for one subject and returns its series of this key.
fn series_of(id: ExperimentId, key: &str, plan: Plan) -> Result<Series, Reason> {
    let experiment = experiment(id).ok_or_else(|| format!("no experiment {id}"))?;
    let request =
        Request { command: CommandName::Waits, experiments: vec![experiment], plan, name: None, try_remedies: false };
    let file = Laboratory::on(oversleep_native::here())
        .run(&request, &StopFlag::new(), &mut Silent)
        .map_err(|error| error.to_string())?;
    file.series(key).cloned().ok_or_else(|| format!("no series {key}"))
}

/// The laboratory's figure for the cost of one read of this clock, in ns: the median of its batches.
///
/// # Errors
/// The reason if the clock is not available here.
pub fn clock_cost_ns(clock: &str) -> Result<f64, Reason> {
    let plan = Plan { subjects: vec![clock.to_owned()], ..Plan::default() };
    let series = series_of(ExperimentId::A1, &format!("A1/{clock}"), plan)?;
    let ps = crate::pairs::median(&series.samples.value.iter().map(|ps| ps as f64).collect::<Vec<_>>());
    ps.map(|ps| ps / 1e3).ok_or_else(|| format!("{clock} has no values here"))
}

/// The laboratory's periodic waits of 1 ms.
///
/// # Errors
/// The reason if they can't be measured under these conditions.
pub fn periodic(wait: &str, conditions: &Conditions, count: u64) -> Result<Series, Reason> {
    let plan = Plan {
        subjects: vec![wait.to_owned()],
        requests: vec![Nanos::from_millis(1)],
        limit: Some(Limit::Count(count)),
        pace: Some(Pace::Periodic),
        conditions: conditions.requested(),
        ..Plan::default()
    };
    series_of(ExperimentId::B5, &format!("B5/{wait}/1ms"), plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_become_the_laboratorys_settings() {
        let conditions = Conditions { cpu: 1, main_cpu: Some(0), fifo: Some(80), lock_memory: true };
        assert_eq!(conditions.requested().to_string(), "lock-memory=on pin=1 policy=fifo:80");
        let plain = Conditions { cpu: 0, main_cpu: None, fifo: None, lock_memory: false };
        assert_eq!(plain.requested().to_string(), "pin=0 policy=other");
    }

    #[test]
    fn an_unknown_tunable_is_denied() {
        assert_eq!(permitted("no-such-tunable", &Setting::Flag(true)), Err("not on this platform".to_owned()));
    }
}
