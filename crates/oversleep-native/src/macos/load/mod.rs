//! Background load on macOS: threads that compete with what is measured, each kind an entry.

mod machine;
mod timers;

use super::tunables::policy;
use crate::hogs::{self, Starter};
use oversleep_system::LoadKind;

/// Threads start in a class of their own here; a real-time policy is left where one should have come along.
pub(super) const HOGS: Starter = Starter { enter: policy::leave_real_time };

/// All kinds of load.
pub fn registry() -> Vec<Box<dyn LoadKind>> {
    let mut loads = hogs::registry(HOGS, machine::sizes, machine::enter_the_kernel);
    loads.push(Box::new(timers::Timers));
    loads
}
