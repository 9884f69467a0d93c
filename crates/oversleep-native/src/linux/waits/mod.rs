//! The calls behind the waits of Linux, which [`oversleep_system::waits::LINUX`] describes.
//!
//! An entry names a description and opens its call, followed by its test. There is a file per family, and shared files
//! for argument conversion, error reasons, blocked signals and the futex call.

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

use oversleep_system::pairing::assert_paired;
use oversleep_system::{Wait, names_of, waits};

use crate::native::waits::Call;
use crate::{library, native};

/// All calls, in any order: lists follow the order of the descriptions.
const CALLS: &[&[Call]] = &[
    sleep::CALLS,
    poll::CALLS,
    socket::CALLS,
    lock::CALLS,
    message::CALLS,
    timerfd::CALLS,
    posix_timer::CALLS,
    itimer::CALLS,
    io_uring::CALLS,
    r#yield::CALLS,
    library::CALLS,
];

const _: () = assert_paired(&names_of!(waits::LINUX), CALLS);

/// The waits of Linux, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn Wait>> {
    native::waits::registry(waits::LINUX, CALLS, &[])
}
