//! Background load on Windows: threads that compete with what is measured.
//!
//! New threads start at the normal priority of their process, whatever the priority of the thread that starts them, so
//! there is nothing for a hog to leave first.

mod machine;
mod timers;

use crate::hogs::Starter;
use crate::hogs::memory::Memory;
use crate::hogs::spin::Spin;
use crate::hogs::syscalls::Syscalls;
use oversleep_system::pairing::Made;
use oversleep_system::{LoadInfo, LoadKind, loads, registry};

const HOGS: Starter = Starter { enter: || () };

const KINDS: &[Made<LoadInfo, dyn LoadKind>] = &[
    ("spin", |info| Box::new(Spin { info, hogs: HOGS })),
    ("memory", |info| Box::new(Memory { info, hogs: HOGS, sizes: machine::sizes })),
    ("syscalls", |info| Box::new(Syscalls { info, hogs: HOGS, call: machine::enter_the_kernel })),
    ("timers", |info| Box::new(timers::Timers(info))),
];

/// All kinds of load.
pub(super) fn registry() -> Vec<Box<dyn LoadKind>> {
    registry!(loads::WINDOWS, &[KINDS])
}
