//! Background load on Windows: threads that compete with what is measured.
//!
//! New threads start at the normal priority of their process, whatever the priority of the thread that starts them, so
//! there is nothing for a hog to leave first.

mod machine;
mod timers;

use crate::hogs::{Kind, Start, memory, spin, syscalls};
use crate::native::paired;
use oversleep_system::pairing::assert_paired;
use oversleep_system::{LoadKind, loads, names_of};

const ENTER: fn() = || ();

const STARTS: &[(&str, Start)] = &[
    ("spin", |hogs| spin::start(ENTER, hogs)),
    ("memory", |hogs| memory::start(ENTER, machine::sizes(), hogs)),
    ("syscalls", |hogs| syscalls::start(ENTER, machine::enter_the_kernel, hogs)),
    ("timers", timers::start),
];

const _: () = assert_paired(&names_of!(loads::WINDOWS), &[STARTS]);

/// All kinds of load.
pub(super) fn registry() -> Vec<Box<dyn LoadKind>> {
    paired::registry(loads::WINDOWS, &[STARTS], |info, start| -> Box<dyn LoadKind> { Box::new(Kind { info, start }) })
}
