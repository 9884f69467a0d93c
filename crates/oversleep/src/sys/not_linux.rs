//! Stubs for features that only Linux has, for every other system.

use crate::clock::Clocksource;

/// No other system has time namespaces.
pub(crate) extern "C" fn before_fork() {}

pub(crate) fn after_fork() {}

/// Seccomp filters are Linux's.
pub(crate) fn is_filtered() -> Option<bool> {
    Some(false)
}

/// The system doesn't name its clock source.
pub(crate) fn clocksource() -> Option<Clocksource> {
    None
}
