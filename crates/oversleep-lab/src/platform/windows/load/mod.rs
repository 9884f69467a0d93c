//! Background load on Windows: threads that compete with what is measured, each kind an entry.
//!
//! New threads start at the normal priority of their process, whatever the priority of the thread that starts them, so
//! there is nothing for a hog to leave first.

mod machine;
mod timers;

use crate::platform::hogs::Starter;
use crate::platform::hogs::memory::Memory;
use crate::platform::hogs::spin::Spin;
use crate::platform::hogs::syscalls::Syscalls;
use crate::platform::interface::LoadKind;

const HOGS: Starter = Starter { enter: || () };

/// All kinds of load.
pub(super) fn registry() -> Vec<Box<dyn LoadKind>> {
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
    use crate::platform::hogs::MOST_HOGS;

    #[test]
    fn every_kind_starts_and_stops() {
        for kind in registry() {
            let load = kind.start(2).unwrap_or_else(|why| panic!("{}: {why}", kind.info().name));
            drop(load);
        }
    }

    #[test]
    fn absurd_counts_are_reasons() {
        for kind in registry() {
            for hogs in [0, MOST_HOGS + 1, u32::MAX] {
                assert!(kind.start(hogs).is_err(), "{} {hogs}", kind.info().name);
            }
        }
    }
}
