//! What a measurement may change on Windows, and how it is restored: the changes
//! ([`Entry`](crate::native::tunables::Entry)) of what [`oversleep_system::tunables`] describes.
//!
//! A guard restores on the thread that made it: it is not `Send` and works in `Drop`, also while a panic unwinds. Guards
//! of one thread are dropped in reverse order.

mod mmcss;
mod pin;
mod policy;
mod power_throttling;
mod resolution;
mod time_begin_period;

use oversleep_system::{Tunable, registry, tunables};

use crate::native::tunables::{Made, of};

#[cfg(test)]
pub(super) use resolution::{outstanding, take_back};

const CHANGES: &[Made] = &[
    of!(resolution::Resolution),
    of!(time_begin_period::TimeBeginPeriod),
    of!(power_throttling::PowerThrottling),
    of!(policy::PolicyTunable),
    of!(mmcss::Mmcss),
    of!(pin::Pin),
];

/// All tunables.
pub(super) fn registry() -> Vec<Box<dyn Tunable>> {
    registry!(tunables::WINDOWS, &[CHANGES])
}
