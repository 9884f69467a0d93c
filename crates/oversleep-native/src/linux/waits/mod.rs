//! The calls behind the waits of Linux, which [`oversleep_system::waits::linux`] describes.
//!
//! An entry names a description and opens its call, with its test beneath. Files go by family; what several entries
//! need (argument conversion, error reasons, blocked signals, the futex call) has a file of its own.
//!
//! Every span and deadline is counted on `CLOCK_MONOTONIC`.

mod args;
#[cfg(test)]
mod conformance;
mod entry;
pub(super) mod futex;
mod io_uring;
mod itimer;
mod lock;
mod message;
mod poll;
mod posix_timer;
mod reason;
#[cfg(test)]
mod refusal;
mod ring;
mod signals;
mod sleep;
mod socket;
mod timerfd;
mod r#yield;

use self::entry::Entry;
use crate::native::{self, complete::assert_complete};
use oversleep_system::Wait;
use oversleep_system::waits::linux;

/// The calls by family; their order here doesn't matter.
const ENTRIES: &[&[Entry]] = &[
    sleep::ENTRIES,
    poll::ENTRIES,
    socket::ENTRIES,
    lock::ENTRIES,
    message::ENTRIES,
    timerfd::ENTRIES,
    posix_timer::ENTRIES,
    itimer::ENTRIES,
    io_uring::ENTRIES,
    r#yield::ENTRIES,
];

assert_complete!(linux::ALL, ENTRIES);

/// The waits of Linux, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn Wait>> {
    native::waits::registry(linux::ALL, ENTRIES)
}
