//! The calls behind the hand-offs of macOS, which [`oversleep_system::handoffs::macos`] describes.

mod file;
mod lock;

use crate::native::handoffs::{Kind, take};
use crate::native::{self, complete::assert_complete};
use crate::unix::handoffs::interrupted;
use oversleep_system::HandoffKind;
use oversleep_system::handoffs::macos;

/// The calls by family; their order here doesn't matter.
const KINDS: &[&[Kind]] = &[lock::KINDS, file::KINDS];

assert_complete!(macos::ALL, KINDS);

/// The hand-offs of macOS, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn HandoffKind>> {
    native::handoffs::registry(macos::ALL, KINDS)
}
