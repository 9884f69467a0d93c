//! How a system's hand-offs are made: each description paired with its calls, and the count that keeps a post made
//! before the wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use oversleep_record::Unavailable;
use oversleep_system::{Handoff, HandoffInfo, HandoffKind};

use super::paired;

type Opened = Result<Arc<dyn Handoff>, Unavailable>;

/// Creates a hand-off.
pub(crate) type Open = fn() -> Opened;
/// The name of a description and how to create a hand-off of that kind.
pub(crate) type Call = (&'static str, Open);

struct NativeKind {
    info: &'static HandoffInfo,
    open: Open,
}

impl HandoffKind for NativeKind {
    fn info(&self) -> &HandoffInfo {
        self.info
    }

    fn open(&self) -> Opened {
        (self.open)()
    }
}

/// The hand-offs of a system in the order of their descriptions, each with its calls.
pub(crate) fn registry(described: &'static [HandoffInfo], calls: &[&[Call]]) -> Vec<Box<dyn HandoffKind>> {
    paired::registry(described, calls, |info, open| -> Box<dyn HandoffKind> { Box::new(NativeKind { info, open }) })
}

/// Lowers a count by one unless it is zero.
pub(crate) fn take(count: &AtomicU32) -> bool {
    count.fetch_update(Ordering::Acquire, Ordering::Relaxed, |count| count.checked_sub(1)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_taken_down_to_zero() {
        let count = AtomicU32::new(2);
        assert_eq!([take(&count), take(&count), take(&count)], [true, true, false]);
    }
}
