//! The parameters behind tunables: their accepted settings, and how they are read and set.

use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::TunableInfo;

use super::kernel::Kernel;
use super::machine::Machine;
use super::scheduler::{Policy, PriorityIs};

/// What a tunable changes, with the words that it accepts.
#[derive(Clone, Debug)]
pub(super) enum Parameter {
    Slack,
    Resolution,
    /// Names of the tiers.
    Tier(Vec<String>),
    /// Names of the classes, and the tier of each.
    Class(Vec<(String, usize)>),
    Policy(Vec<Policy>),
    PowerThrottling,
    /// Number of CPUs.
    Pin(u32),
    DmaLatency,
    LockMemory,
}

/// The service classes of macOS and their latency tiers.
const CLASSES: [(&str, &str); 5] = [
    ("default", "tier-1"),
    ("user-interactive", "tier-0"),
    ("user-initiated", "tier-1"),
    ("utility", "tier-3"),
    ("background", "tier-3"),
];

impl Parameter {
    /// The parameter behind the tunable with that name; `None` if it isn't modelled.
    pub(super) fn named(name: &str, machine: &Machine) -> Option<Parameter> {
        let tiers = &machine.timing.tiers;
        Some(match name {
            "slack" => Parameter::Slack,
            "resolution" => Parameter::Resolution,
            "latency" => Parameter::Tier(tiers.iter().map(|tier| tier.name.clone()).collect()),
            "qos" => {
                let tier = |name: &str| tiers.iter().position(|tier| tier.name == name);
                let known = CLASSES.iter().filter_map(|&(class, name)| Some((class.to_owned(), tier(name)?)));
                Parameter::Class(known.collect())
            }
            "policy" => Parameter::Policy(machine.scheduler.policies.clone()),
            "power-throttling" => Parameter::PowerThrottling,
            "pin" => Parameter::Pin(machine.cpus.len() as u32),
            "dma-latency" => Parameter::DmaLatency,
            "lock-memory" => Parameter::LockMemory,
            _ => return None,
        })
    }

    pub(super) fn takes(&self, setting: &Setting) -> bool {
        match (self, setting) {
            (Parameter::Slack, Setting::Nanos(span)) => *span > Nanos::ZERO,
            (Parameter::Resolution, Setting::Nanos(span)) => *span > Nanos::ZERO,
            (Parameter::DmaLatency, Setting::Nanos(span)) => *span >= Nanos::ZERO,
            (Parameter::PowerThrottling | Parameter::LockMemory, Setting::Flag(_)) => true,
            (Parameter::Pin(count), Setting::Cpus(cpus)) => {
                !cpus.is_empty() && cpus.iter().all(|cpu| cpu < count && *cpu < 64)
            }
            (Parameter::Tier(names), Setting::Policy { policy, priority: 0 }) => names.contains(policy),
            (Parameter::Class(classes), Setting::Policy { policy, priority: -15..=0 }) => {
                classes.iter().any(|(name, _)| name == policy)
            }
            (Parameter::Policy(policies), Setting::Policy { policy, priority }) => policies
                .iter()
                .any(|known| known.name == *policy && (known.priority.0..=known.priority.1).contains(priority)),
            _ => false,
        }
    }

    /// The settings that it accepts, for messages, if they depend on the machine.
    pub(super) fn expected(&self) -> Option<String> {
        match self {
            Parameter::Pin(count) => Some(format!("CPU numbers from 0 to {}", count.saturating_sub(1).min(63))),
            Parameter::Tier(names) => Some(names.join(", ")),
            Parameter::Class(classes) => {
                Some(classes.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", "))
            }
            _ => None,
        }
    }

    pub(super) fn get(&self, kernel: &Kernel) -> Setting {
        let word = |policy: &str, priority| Setting::Policy { policy: policy.to_owned(), priority };
        match self {
            Parameter::Slack => Setting::Nanos(kernel.slack()),
            Parameter::Resolution => Setting::Nanos(resolution(kernel)),
            Parameter::Tier(names) => word(names.get(kernel.tier()).map_or("", String::as_str), 0),
            Parameter::Class(classes) => {
                let tier = kernel.tier();
                word(classes.iter().find(|(_, of)| *of == tier).map_or("default", |(name, _)| name.as_str()), 0)
            }
            Parameter::Policy(policies) => {
                let standing = kernel.standing();
                word(policies.get(standing.policy).map_or("", |policy| policy.name.as_str()), standing.priority)
            }
            Parameter::PowerThrottling => Setting::Flag(!kernel.opted_out()),
            Parameter::Pin(count) => {
                let affinity = kernel.affinity();
                Setting::Cpus((0..*count).filter(|cpu| affinity & (1 << (cpu % 64)) != 0).collect())
            }
            Parameter::DmaLatency => Setting::Nanos(kernel.idle_exit_max().unwrap_or(NO_LIMIT)),
            Parameter::LockMemory => Setting::Flag(false),
        }
    }

    /// # Errors
    /// The machine doesn't allow the setting now.
    pub(super) fn set(&self, kernel: &Kernel, setting: &Setting) -> Result<(), Unavailable> {
        match (self, setting) {
            (Parameter::Slack, Setting::Nanos(span)) => {
                if kernel.standing().is_real_time {
                    return Err(Unavailable::failed("slack", "a thread under a real-time policy has no slack"));
                }
                kernel.set_slack(*span);
            }
            (Parameter::DmaLatency, Setting::Nanos(span)) => {
                kernel.set_idle_exit_max((*span < NO_LIMIT).then_some(*span));
            }
            (Parameter::PowerThrottling, Setting::Flag(on)) => kernel.set_opted_out(!on),
            (Parameter::Pin(_), Setting::Cpus(cpus)) => {
                kernel.set_affinity(cpus.iter().fold(0, |mask, cpu| mask | 1 << (cpu % 64)));
            }
            (Parameter::Tier(names), Setting::Policy { policy, .. }) => {
                kernel.set_tier(names.iter().position(|name| name == policy).unwrap_or(0));
            }
            (Parameter::Class(classes), Setting::Policy { policy, .. }) => {
                let tier = classes.iter().find(|(name, _)| name == policy).map_or(0, |(_, tier)| *tier);
                kernel.set_tier(tier);
            }
            (Parameter::Policy(_), Setting::Policy { policy, priority }) => {
                let standing = kernel.scheduler().standing(policy, *priority);
                kernel.set_standing(standing.ok_or(Unavailable::NotOnThisPlatform)?);
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn to_compare(&self, info: &TunableInfo) -> Vec<Setting> {
        let word = |policy: &str, priority| Setting::Policy { policy: policy.to_owned(), priority };
        match self {
            Parameter::Slack => info.spans_to_compare(),
            // The shortest first, as in the published figures behind the model.
            Parameter::Resolution => info.spans_to_compare().into_iter().rev().collect(),
            Parameter::Tier(names) => names.iter().map(|name| word(name, 0)).collect(),
            Parameter::Class(classes) => classes.iter().map(|(name, _)| word(name, 0)).collect(),
            Parameter::Policy(policies) => {
                let mut settings = Vec::new();
                for policy in policies {
                    let plain = if policy.priority_is.ranks() { policy.priority.0 } else { 0 };
                    settings.push(word(&policy.name, plain));
                    // One policy is enough to show a nice value.
                    if policy.priority_is == PriorityIs::Nice && settings.len() == 1 {
                        settings.push(word(&policy.name, 5));
                    }
                }
                settings
            }
            Parameter::PowerThrottling => vec![Setting::Flag(true), Setting::Flag(false)],
            Parameter::Pin(_) | Parameter::DmaLatency | Parameter::LockMemory => Vec::new(),
        }
    }
}

/// From here on there is no limit. Linux's default is 2000 s.
const NO_LIMIT: Nanos = Nanos(2_000_000_000_000);

/// The period of the timer interrupt now, as the system states it.
pub(super) fn resolution(kernel: &Kernel) -> Nanos {
    kernel.hardware_grid.grid().period
}
