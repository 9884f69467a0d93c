//! Background load on Linux: threads that compete with what is measured.

mod machine;
mod timers;

use super::tunables::policy;
use crate::hogs::{Kind, Start, memory, spin, syscalls};
use crate::native::paired;
use oversleep_system::pairing::assert_paired;
use oversleep_system::{LoadKind, loads, names_of};

/// Hogs inherit the CPUs of the thread that starts them, but not its real-time policy: an endless loop under one could
/// stop the whole machine.
const ENTER: fn() = policy::leave_real_time;

const STARTS: &[(&str, Start)] = &[
    ("spin", |hogs| spin::start(ENTER, hogs)),
    ("memory", |hogs| memory::start(ENTER, machine::sizes(), hogs)),
    ("syscalls", |hogs| syscalls::start(ENTER, machine::enter_the_kernel, hogs)),
    ("timers", timers::start),
];

const _: () = assert_paired(&names_of!(loads::LINUX), &[STARTS]);

/// All kinds of load.
pub fn registry() -> Vec<Box<dyn LoadKind>> {
    paired::registry(loads::LINUX, &[STARTS], |info, start| -> Box<dyn LoadKind> { Box::new(Kind { info, start }) })
}
