//! The calls behind the waits of Windows, which [`oversleep_system::waits::windows`] describes.
//!
//! An entry names a description and opens its call, with its test beneath. Files go by family.

mod args;
#[cfg(test)]
mod conformance;
mod ending;
mod entry;
mod event;
mod lock;
mod message;
mod object;
mod poll;
mod pool;
mod sleep;
mod timer;
mod r#yield;

pub(crate) use ending::end_all;
pub(super) use event::{Event, wait_for};
pub(super) use lock::{WAIT_ON_ADDRESS_CALL, WaitOnAddress};
pub(super) use poll::CompletionPort;

use self::entry::Entry;
use crate::native::{self, complete::assert_complete};
use oversleep_system::Wait;
use oversleep_system::waits::windows;

/// The calls by family; their order here doesn't matter.
const ENTRIES: &[&[Entry]] = &[
    sleep::ENTRIES,
    object::ENTRIES,
    lock::ENTRIES,
    poll::ENTRIES,
    timer::ENTRIES,
    pool::ENTRIES,
    message::ENTRIES,
    r#yield::ENTRIES,
];

assert_complete!(windows::ALL, ENTRIES);

/// The waits of Windows, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn Wait>> {
    native::waits::registry(windows::ALL, ENTRIES)
}
