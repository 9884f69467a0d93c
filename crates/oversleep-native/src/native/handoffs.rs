//! What an entry in a system's table of hand-offs is, and the count that keeps a post made before the wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use oversleep_record::Unavailable;

use oversleep_system::{Handoff, HandoffInfo, HandoffKind};

type Opened = Result<Arc<dyn Handoff>, Unavailable>;

/// A description, and how a hand-off of that kind is made.
pub(crate) struct Kind {
    pub(crate) info: &'static HandoffInfo,
    pub(crate) open: fn() -> Opened,
}

impl Kind {
    pub(crate) const fn new(info: &'static HandoffInfo, open: fn() -> Opened) -> Kind {
        Kind { info, open }
    }
}

impl HandoffKind for &'static Kind {
    fn info(&self) -> &HandoffInfo {
        self.info
    }

    fn open(&self) -> Opened {
        (self.open)()
    }
}

/// The kind of that description among those of a system.
pub(crate) fn kind_of(kinds: &[&'static [Kind]], info: &HandoffInfo) -> Option<&'static Kind> {
    kinds.iter().copied().flatten().find(|kind| kind.info.name == info.name)
}

/// The hand-offs of a system in the order of their descriptions, each with its calls.
pub(crate) fn registry(described: &[&HandoffInfo], kinds: &[&'static [Kind]]) -> Vec<Box<dyn HandoffKind>> {
    let opened = described.iter().filter_map(|info| kind_of(kinds, info));
    opened.map(|kind| Box::new(kind) as Box<dyn HandoffKind>).collect()
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
