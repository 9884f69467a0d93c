//! The calls behind the waits of macOS, which [`oversleep_system::waits::macos`] describes.
//!
//! An entry names a description and opens its call, with its test beneath. Files go by family.

mod address;
mod args;
mod condition;
#[cfg(test)]
mod conformance;
mod dispatch;
mod entry;
mod kqueue;
mod poll;
mod reason;
mod semaphore;
mod sleep;
mod r#yield;

pub(super) use kqueue::queue;

use self::entry::Entry;
use crate::native::{self, complete::assert_complete};
use oversleep_system::Wait;
use oversleep_system::waits::macos;

/// The calls by family; their order here doesn't matter.
const ENTRIES: &[&[Entry]] = &[
    sleep::ENTRIES,
    poll::ENTRIES,
    kqueue::ENTRIES,
    condition::ENTRIES,
    semaphore::ENTRIES,
    address::ENTRIES,
    dispatch::ENTRIES,
    r#yield::ENTRIES,
];

assert_complete!(macos::ALL, ENTRIES);

/// The waits of macOS, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn Wait>> {
    native::waits::registry(macos::ALL, ENTRIES)
}
