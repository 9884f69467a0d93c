//! The calls behind the hand-offs of Linux, which [`oversleep_system::handoffs::linux`] describes.

#[cfg(test)]
mod conformance;
mod file;
mod lock;
mod park;

use std::io::Error;

use crate::native::handoffs::{Kind, take};
use crate::native::{self, complete::assert_complete};
use crate::unix::handoffs::interrupted;
use oversleep_system::HandoffKind;
use oversleep_system::handoffs::linux;

/// The calls by family; their order here doesn't matter.
const KINDS: &[&[Kind]] = &[lock::KINDS, file::KINDS, park::KINDS];

assert_complete!(linux::ALL, KINDS);

/// The hand-offs of Linux, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn HandoffKind>> {
    native::handoffs::registry(linux::ALL, KINDS)
}

fn last_error() -> Error {
    Error::last_os_error()
}
