//! What a measurement may change on Linux, and how it is restored: the changes
//! ([`Entry`](crate::native::tunables::Entry)) of what [`oversleep_system::tunables`] describes.
//!
//! A guard restores on the thread that made it: it is not `Send` and works in `Drop`, also while a panic unwinds. Guards
//! of one thread are dropped in reverse order.

pub mod dma_latency;
pub mod lock_memory;
mod pin;
pub mod policy;
mod slack;

use crate::native::tunables::{Made, of};
use oversleep_system::{Tunable, registry, tunables};

const CHANGES: &[Made] = &[
    of!(slack::Slack),
    of!(policy::PolicyTunable),
    of!(pin::Pin),
    of!(lock_memory::LockMemory),
    of!(dma_latency::DmaLatency),
];

/// All tunables.
pub fn registry() -> Vec<Box<dyn Tunable>> {
    registry!(tunables::LINUX, &[CHANGES])
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;
    use oversleep_record::conditions::Setting;

    use super::*;

    #[test]
    fn every_tunable_refuses_a_setting_of_another_kind() {
        let settings = [
            Setting::Nanos(Nanos(1)),
            Setting::Flag(true),
            Setting::Cpus(vec![0]),
            Setting::Policy { policy: "other".to_owned(), priority: 0 },
        ];
        let takes = |name: &str| match name {
            "slack" | "dma-latency" => 0,
            "lock-memory" => 1,
            "pin" => 2,
            _ => 3,
        };
        for tunable in registry() {
            for (kind, setting) in settings.iter().enumerate().filter(|(kind, _)| *kind != takes(tunable.info().name)) {
                let (outcome, guard) = tunable.apply(setting);
                assert!(!outcome.holds() && guard.is_none(), "{} took setting {kind}", tunable.info().name);
            }
        }
    }
}
