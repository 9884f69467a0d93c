//! The calls behind the hand-offs of Windows, which [`oversleep_system::handoffs::windows`] describes.

mod lock;
mod object;

use std::io::Error;

use crate::native::handoffs::{Kind, take};
use crate::native::{self, complete::assert_complete};
use oversleep_system::HandoffKind;
use oversleep_system::handoffs::windows;

/// The calls by family; their order here doesn't matter.
const KINDS: &[&[Kind]] = &[object::KINDS, lock::KINDS];

assert_complete!(windows::ALL, KINDS);

/// The hand-offs of Windows, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn HandoffKind>> {
    native::handoffs::registry(windows::ALL, KINDS)
}

/// Such a call fails only by a bug here or a handle closed by somebody else, and going on would leave the other thread
/// asleep for ever.
fn expect(worked: bool, call: &str) {
    assert!(worked, "{call}: {}", Error::last_os_error());
}
