//! Background load on macOS: threads that compete with what is measured.

mod machine;
mod timers;

use oversleep_system::loads;

use super::tunables::policy;
use crate::hogs;

/// A new thread starts in a class of its own here. It leaves a real-time policy in case it inherited one.
const ENTER: fn() = policy::leave_real_time;

hogs::loads!(loads::MACOS, ENTER);
