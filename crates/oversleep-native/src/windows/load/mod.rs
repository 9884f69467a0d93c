//! Background load on Windows: threads that compete with what is measured.
//!
//! New threads start at the normal priority of their process, whatever the priority of the thread that starts them, so
//! there is nothing for a hog to leave first.

mod machine;
mod timers;

use oversleep_system::loads;

use crate::hogs;

const ENTER: fn() = || ();

hogs::loads!(loads::WINDOWS, ENTER);
