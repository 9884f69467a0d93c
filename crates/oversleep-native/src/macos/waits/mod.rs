//! The calls behind the waits of macOS, which [`oversleep_system::waits::MACOS`] describes.
//!
//! An entry names a description and opens its call; its test stands beneath. There is a file per family.

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

use oversleep_system::pairing::assert_paired;
use oversleep_system::{Wait, names_of, waits};

use crate::native::waits::Call;
use crate::{library, native};

pub(super) use kqueue::queue;

/// All calls, in any order: lists follow the order of the descriptions.
const CALLS: &[&[Call]] = &[
    sleep::CALLS,
    poll::CALLS,
    kqueue::CALLS,
    condition::CALLS,
    semaphore::CALLS,
    address::CALLS,
    dispatch::CALLS,
    r#yield::CALLS,
    library::CALLS,
];

const _: () = assert_paired(&names_of!(waits::MACOS), CALLS);

/// The waits of macOS, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn Wait>> {
    native::waits::registry(waits::MACOS, CALLS, &[])
}
