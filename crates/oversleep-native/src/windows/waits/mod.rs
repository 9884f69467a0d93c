//! The calls behind the waits of Windows, which [`oversleep_system::waits::WINDOWS`] describes.
//!
//! An entry names a description and opens its call; its test stands beneath. There is a file per family.

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

use oversleep_system::pairing::assert_paired;
use oversleep_system::{Wait, names_of, waits};

use crate::native::waits::Call;
use crate::{library, native};

pub(crate) use ending::end_all;
pub(super) use event::{Event, wait_for};
pub(super) use lock::{WAIT_ON_ADDRESS_CALL, WaitOnAddress};
pub(super) use poll::CompletionPort;

/// All calls, in any order: lists follow the order of the descriptions.
const CALLS: &[&[Call]] = &[
    sleep::CALLS,
    object::CALLS,
    lock::CALLS,
    poll::CALLS,
    timer::CALLS,
    pool::CALLS,
    message::CALLS,
    r#yield::CALLS,
    library::CALLS,
];

const _: () = assert_paired(&names_of!(waits::WINDOWS), CALLS);

/// The waits of Windows, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn Wait>> {
    native::waits::registry(waits::WINDOWS, CALLS, timer::TOLERATING)
}
