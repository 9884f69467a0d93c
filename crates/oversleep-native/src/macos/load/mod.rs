//! Background load on macOS: threads that compete with what is measured.

mod machine;
mod timers;

use super::tunables::policy;
use crate::hogs::Starter;
use crate::hogs::memory::Memory;
use crate::hogs::spin::Spin;
use crate::hogs::syscalls::Syscalls;
use oversleep_system::pairing::Made;
use oversleep_system::{LoadInfo, LoadKind, loads, registry};

/// A new thread starts in a class of its own here. It leaves a real-time policy in case it inherited one.
pub(super) const HOGS: Starter = Starter { enter: policy::leave_real_time };

const KINDS: &[Made<LoadInfo, dyn LoadKind>] = &[
    ("spin", |info| Box::new(Spin { info, hogs: HOGS })),
    ("memory", |info| Box::new(Memory { info, hogs: HOGS, sizes: machine::sizes })),
    ("syscalls", |info| Box::new(Syscalls { info, hogs: HOGS, call: machine::enter_the_kernel })),
    ("timers", |info| Box::new(timers::Timers(info))),
];

/// All kinds of load.
pub fn registry() -> Vec<Box<dyn LoadKind>> {
    registry!(loads::MACOS, &[KINDS])
}
