//! The calls behind the hand-offs of Windows, which [`oversleep_system::handoffs::WINDOWS`] describes.

mod lock;
mod object;

use std::io::Error;

use oversleep_system::pairing::assert_paired;
use oversleep_system::{HandoffKind, handoffs, names_of};

use crate::native;
use crate::native::handoffs::{Call, take};

/// All calls, in any order: lists follow the order of the descriptions.
const CALLS: &[&[Call]] = &[object::CALLS, lock::CALLS];

const _: () = assert_paired(&names_of!(handoffs::WINDOWS), CALLS);

/// The hand-offs of Windows, in the order of their descriptions.
pub(super) fn registry() -> Vec<Box<dyn HandoffKind>> {
    native::handoffs::registry(handoffs::WINDOWS, CALLS)
}

/// Aborts the program if a call failed: only a bug here or a handle closed by someone else makes it fail, and otherwise
/// the other thread would sleep forever.
fn expect(worked: bool, call: &str) {
    assert!(worked, "{call}: {}", Error::last_os_error());
}
