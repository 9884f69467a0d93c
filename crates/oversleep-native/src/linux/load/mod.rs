//! Background load on Linux: threads that compete with what is measured, each kind an entry.

mod machine;
mod timers;

use super::tunables::policy;
use crate::hogs::{self, Starter};
use oversleep_system::LoadKind;

/// Hogs inherit the CPUs of the thread that starts them, but never its real-time policy: a loop under one could take
/// the machine away from everybody.
const HOGS: Starter = Starter { enter: policy::leave_real_time };

/// All kinds of load.
pub fn registry() -> Vec<Box<dyn LoadKind>> {
    let mut loads = hogs::registry(HOGS, machine::sizes, machine::enter_the_kernel);
    loads.push(Box::new(timers::Timers));
    loads
}
