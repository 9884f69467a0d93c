//! Background load on macOS: threads that compete with what is measured.

mod machine;
mod timers;

use super::tunables::policy;
use crate::hogs::{Kind, Start, memory, spin, syscalls};
use crate::native::paired;
use oversleep_system::pairing::assert_paired;
use oversleep_system::{LoadKind, loads, names_of};

/// A new thread starts in a class of its own here. It leaves a real-time policy in case it inherited one.
const ENTER: fn() = policy::leave_real_time;

const STARTS: &[(&str, Start)] = &[
    ("spin", |hogs| spin::start(ENTER, hogs)),
    ("memory", |hogs| memory::start(ENTER, machine::sizes(), hogs)),
    ("syscalls", |hogs| syscalls::start(ENTER, machine::enter_the_kernel, hogs)),
    ("timers", timers::start),
];

const _: () = assert_paired(&names_of!(loads::MACOS), &[STARTS]);

/// All kinds of load.
pub fn registry() -> Vec<Box<dyn LoadKind>> {
    paired::registry(loads::MACOS, &[STARTS], |info, start| -> Box<dyn LoadKind> { Box::new(Kind { info, start }) })
}
