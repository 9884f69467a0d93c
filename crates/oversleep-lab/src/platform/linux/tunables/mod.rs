//! What a measurement may change on Linux, each an entry with its way back.
//!
//! A guard restores on the thread that made it: it is not `Send` and works in `Drop`, so a panic that unwinds restores
//! too. Guards of one thread are dropped in reverse order.

pub mod dma_latency;
pub mod lock_memory;
mod pin;
pub mod policy;
mod slack;

use std::marker::PhantomData;

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};

use crate::platform::interface::{Restore, Tunable};

/// All tunables.
pub fn registry() -> Vec<Box<dyn Tunable>> {
    vec![
        Box::new(slack::Slack),
        Box::new(policy::PolicyTunable),
        Box::new(pin::Pin),
        Box::new(lock_memory::LockMemory),
        Box::new(dma_latency::DmaLatency),
    ]
}

/// Keeps a guard on its thread.
pub(super) type NotSend = PhantomData<*const ()>;

fn denied(why: Unavailable) -> (Outcome, Option<Box<dyn Restore>>) {
    (Outcome::Denied { why }, None)
}

fn already(is: Setting) -> (Outcome, Option<Box<dyn Restore>>) {
    (Outcome::AlreadySo { is }, None)
}

fn wrong_kind(tunable: &str, setting: &Setting, right: &str) -> (Outcome, Option<Box<dyn Restore>>) {
    denied(Unavailable::Nonsense { what: not_a_setting(tunable, setting, right) })
}

fn not_a_setting(tunable: &str, setting: &Setting, right: &str) -> String {
    format!("{tunable}={setting}; give {right}")
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

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
