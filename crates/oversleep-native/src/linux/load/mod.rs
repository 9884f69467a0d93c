//! Background load on Linux: threads that compete with what is measured.

mod machine;
mod timers;

use super::tunables::policy;
use crate::hogs::Starter;
use crate::hogs::memory::Memory;
use crate::hogs::spin::Spin;
use crate::hogs::syscalls::Syscalls;
use oversleep_system::pairing::Made;
use oversleep_system::{LoadInfo, LoadKind, loads, registry};

/// Hogs inherit the CPUs of the thread that starts them, but not its real-time policy: an endless loop under one could
/// stop the whole machine.
const HOGS: Starter = Starter { enter: policy::leave_real_time };

const KINDS: &[Made<LoadInfo, dyn LoadKind>] = &[
    ("spin", |info| Box::new(Spin { info, hogs: HOGS })),
    ("memory", |info| Box::new(Memory { info, hogs: HOGS, sizes: machine::sizes })),
    ("syscalls", |info| Box::new(Syscalls { info, hogs: HOGS, call: machine::enter_the_kernel })),
    ("timers", |info| Box::new(timers::Timers(info))),
];

/// All kinds of load.
pub fn registry() -> Vec<Box<dyn LoadKind>> {
    registry!(loads::LINUX, &[KINDS])
}
