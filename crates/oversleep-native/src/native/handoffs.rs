//! What an entry in a system's table of hand-offs is, and the count that keeps a post made before the wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use oversleep_record::Unavailable;

use oversleep_system::{Handoff, HandoffInfo, HandoffKind};

/// One entry of the table.
pub(crate) struct Kind {
    pub(crate) info: HandoffInfo,
    pub(crate) open: fn() -> Result<Arc<dyn Handoff>, Unavailable>,
}

impl HandoffKind for &'static Kind {
    fn info(&self) -> &HandoffInfo {
        &self.info
    }

    fn open(&self) -> Result<Arc<dyn Handoff>, Unavailable> {
        (self.open)()
    }
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
