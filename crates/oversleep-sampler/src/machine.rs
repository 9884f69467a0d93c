//! What may change about a machine while it is sampled, besides its counters.

use oversleep_record::environment::Environment;
use oversleep_record::{FactName, Nanos};

/// The facts that are read again and again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineState {
    /// The counter behind the kernel's clocks; `None` where it isn't known.
    pub clock_source: Option<String>,
    /// The CPU quota of this process; `None` where there is none or it isn't known.
    pub quota_cpus: Option<f64>,
    /// The weight of this process's control group.
    pub weight: Option<i64>,
    /// CPUs that are online.
    pub cpus: Option<i64>,
    /// The timer slack of threads.
    pub slack: Option<Nanos>,
    /// Whether the machine runs on battery.
    pub is_on_battery: bool,
}

impl MachineState {
    /// What these facts say.
    pub fn of(facts: &Environment) -> MachineState {
        MachineState {
            clock_source: facts.text(FactName::ClocksourceCurrent).map(str::to_owned),
            quota_cpus: facts.real(FactName::CgroupCpuQuotaCpus),
            weight: facts.integer(FactName::CgroupCpuWeight),
            cpus: facts.integer(FactName::CpuCount),
            slack: facts.nanos(FactName::TimerSlack),
            is_on_battery: facts.flag(FactName::PowerOnBattery).unwrap_or(false),
        }
    }
}
