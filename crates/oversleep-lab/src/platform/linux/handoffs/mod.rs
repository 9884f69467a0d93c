//! The ways one thread wakes another on Linux, as entries of one table.
//!
//! Each is what a careful programmer writes with that primitive: a count that a post before the wait raises, so it is
//! never lost, and a wait that goes on after signals and stray wake-ups. A post always notifies, also where nobody
//! waits, so that its cost doesn't depend on who came first.

#[cfg(test)]
mod conformance;
mod file;
mod lock;
mod park;

use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use oversleep_record::Unavailable;

use crate::platform::{Handoff, HandoffInfo, HandoffKind};

/// The hand-offs of Linux, in the order in which they are listed.
pub(super) fn registry() -> Vec<Box<dyn HandoffKind>> {
    let kinds = [&lock::FUTEX, &lock::CONDVAR, &lock::SEMAPHORE, &file::EVENTFD, &file::PIPE, &park::THREAD_PARK];
    kinds.into_iter().map(|kind| Box::new(kind) as Box<dyn HandoffKind>).collect()
}

/// One entry of the table.
struct Kind {
    info: HandoffInfo,
    open: fn() -> Result<Arc<dyn Handoff>, Unavailable>,
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
fn take(count: &AtomicU32) -> bool {
    count.fetch_update(Ordering::Acquire, Ordering::Relaxed, |count| count.checked_sub(1)).is_ok()
}

fn last_error() -> Error {
    Error::last_os_error()
}

/// Whether the last call of this thread was ended by a signal; any other error is a bug here or a closed descriptor,
/// and going on would leave the other thread asleep for ever.
fn interrupted(call: &str) -> bool {
    let error = last_error();
    assert!(error.kind() == ErrorKind::Interrupted, "{call}: {error}");
    true
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_entry_is_described_under_its_own_name() {
        let registry = registry();
        let names: BTreeSet<&str> = registry.iter().map(|kind| kind.info().name).collect();
        assert_eq!(
            names.into_iter().collect::<Vec<_>>(),
            ["condvar", "eventfd", "futex", "pipe", "semaphore", "thread-park"]
        );
        for kind in &registry {
            let info = kind.info();
            assert!(info.doc.ends_with('.') && info.call.contains(" and "), "{}", info.name);
            assert!(info.since.starts_with("Linux ") && info.page.starts_with("https://"), "{}", info.name);
        }
    }

    #[test]
    fn a_count_is_taken_down_to_zero() {
        let count = AtomicU32::new(2);
        assert_eq!([take(&count), take(&count), take(&count)], [true, true, false]);
    }
}
