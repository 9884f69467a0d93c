//! The calls behind the hand-offs of Linux, which [`oversleep_system::handoffs::LINUX`] describes.

#[cfg(test)]
mod conformance;
mod file;
mod lock;
mod park;

use std::io::Error;

use oversleep_system::pairing::assert_paired;
use oversleep_system::{HandoffKind, handoffs, names_of};

use crate::native;
use crate::native::handoffs::{Call, take};
use crate::unix::handoffs::interrupted;

/// All calls, in any order: lists follow the order of the descriptions.
const CALLS: &[&[Call]] = &[lock::CALLS, file::CALLS, park::CALLS];

const _: () = assert_paired(&names_of!(handoffs::LINUX), CALLS);

/// The hand-offs of Linux, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn HandoffKind>> {
    native::handoffs::registry(handoffs::LINUX, CALLS)
}

fn last_error() -> Error {
    Error::last_os_error()
}
