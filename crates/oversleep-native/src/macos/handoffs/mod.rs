//! The calls behind the hand-offs of macOS, which [`oversleep_system::handoffs::MACOS`] describes.

mod file;
mod lock;

use oversleep_system::pairing::assert_paired;
use oversleep_system::{HandoffKind, handoffs, names_of};

use crate::native;
use crate::native::handoffs::{Call, take};
use crate::unix::handoffs::interrupted;

/// All calls, in any order: lists follow the order of the descriptions.
const CALLS: &[&[Call]] = &[lock::CALLS, file::CALLS];

const _: () = assert_paired(&names_of!(handoffs::MACOS), CALLS);

/// The hand-offs of macOS, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn HandoffKind>> {
    native::handoffs::registry(handoffs::MACOS, CALLS)
}
