//! Background load on Linux: threads that compete with what is measured.

mod machine;
mod timers;

use oversleep_system::loads;

use super::tunables::policy;
use crate::hogs;

/// Hogs inherit the CPUs of the thread that starts them, but not its real-time policy: an endless loop under one could
/// stop the whole machine.
const ENTER: fn() = policy::leave_real_time;

hogs::loads!(loads::LINUX, ENTER);
