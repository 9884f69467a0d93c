//! Background load on Windows: threads that compete with what is measured, each kind an entry.
//!
//! New threads start at the normal priority of their process, whatever the priority of the thread that starts them, so
//! there is nothing for a hog to leave first.

mod machine;
mod timers;

use crate::hogs::{self, Starter};
use oversleep_system::LoadKind;

const HOGS: Starter = Starter { enter: || () };

/// All kinds of load.
pub(super) fn registry() -> Vec<Box<dyn LoadKind>> {
    let mut loads = hogs::registry(HOGS, machine::sizes, machine::enter_the_kernel);
    loads.push(Box::new(timers::Timers));
    loads
}
