//! Background load on macOS: threads that compete with what is measured, each kind an entry.

mod machine;
mod timers;

use super::tunables::policy;
use crate::platform::hogs::Starter;
use crate::platform::hogs::memory::Memory;
use crate::platform::hogs::spin::Spin;
use crate::platform::hogs::syscalls::Syscalls;
use crate::platform::interface::LoadKind;

/// Threads start in a class of their own here; a real-time policy is left where one should have come along.
pub(super) const HOGS: Starter = Starter { enter: policy::leave_real_time };

/// All kinds of load.
pub fn registry() -> Vec<Box<dyn LoadKind>> {
    vec![
        Box::new(Spin(HOGS)),
        Box::new(Memory { hogs: HOGS, sizes: machine::sizes }),
        Box::new(Syscalls { hogs: HOGS, call: machine::enter_the_kernel }),
        Box::new(timers::Timers),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_starts_and_stops() {
        for kind in registry() {
            let load = kind.start(2).unwrap_or_else(|why| panic!("{}: {why}", kind.info().name));
            drop(load);
        }
    }
}
