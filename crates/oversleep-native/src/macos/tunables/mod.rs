//! What a measurement may change on macOS, and how it is restored: the changes
//! ([`Entry`](crate::native::tunables::Entry)) of what [`oversleep_system::tunables`] describes.
//!
//! A guard restores on the thread that made it: it is not `Send` and works in `Drop`, also while a panic unwinds. Guards
//! of one thread are dropped in reverse order.

mod affinity;
mod latency;
mod lock_memory;
mod pin;
pub mod policy;
mod qos;
mod thread_policy;

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::{Tunable, registry, tunables};

use crate::native::tunables::{Made, of};

pub use latency::tier;
pub use qos::class;

const CHANGES: &[Made] = &[
    of!(latency::Latency),
    of!(qos::Qos),
    of!(policy::Policy),
    of!(pin::Pin),
    of!(affinity::Affinity),
    of!(lock_memory::LockMemory),
];

/// All tunables.
pub fn registry() -> Vec<Box<dyn Tunable>> {
    registry!(tunables::MACOS, &[CHANGES])
}

/// Runs `body` while a setting holds.
///
/// # Errors
/// Why the setting doesn't hold.
pub fn while_held<T>(name: &str, setting: &Setting, body: impl FnOnce() -> T) -> Result<T, Unavailable> {
    let registry = registry();
    let tunable = registry.iter().find(|tunable| tunable.info().name == name).ok_or(Unavailable::NotOnThisPlatform)?;
    match tunable.apply(setting) {
        (Outcome::Denied { why }, _) => Err(why),
        (_, _held) => Ok(body()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::tunables::word;

    #[test]
    fn what_is_applied_holds_and_is_put_back() {
        for (name, setting) in [
            ("latency", word("tier-3", 0)),
            ("qos", word("utility", 0)),
            ("policy", word("time-constraint", 0)),
            ("policy", word("fifo", 40)),
        ] {
            std::thread::spawn(move || {
                let registry = registry();
                let tunable = registry.iter().find(|tunable| tunable.info().name == name).expect("registered");
                let before = tunable.current();
                let (outcome, guard) = tunable.apply(&setting);
                if outcome.holds() {
                    assert_eq!(tunable.current(), Ok(setting), "{name}");
                }
                drop(guard);
                assert_eq!(tunable.current(), before, "{name}");
            })
            .join()
            .expect("no panic");
        }
    }
}
