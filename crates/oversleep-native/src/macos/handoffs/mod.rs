//! The ways one thread wakes another on macOS, as entries of one table.
//!
//! Each is what a careful programmer writes with that primitive: a count that a post before the wait raises, so it is
//! never lost, and a wait that goes on after signals and stray wake-ups. A post always notifies, also where nobody
//! waits, so that its cost doesn't depend on who came first.

mod file;
mod lock;

use crate::native::handoffs::{Kind, take};
use crate::unix::handoffs::interrupted;
use oversleep_system::HandoffKind;

/// The hand-offs of macOS, in the order in which they are listed.
pub(super) fn registry() -> Vec<Box<dyn HandoffKind>> {
    let kinds = [
        &lock::CONDVAR,
        &lock::THREAD_PARK,
        &lock::MACH_SEMAPHORE,
        &lock::DISPATCH_SEMAPHORE,
        &file::PIPE,
        &file::KEVENT_USER,
    ];
    kinds.into_iter().map(|kind| Box::new(kind) as Box<dyn HandoffKind>).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_described() {
        for kind in &registry() {
            let info = kind.info();
            assert!(info.doc.ends_with('.') && info.call.contains(" and "), "{}", info.name);
            assert!(info.since.contains("OS ") && info.page.starts_with("https://"), "{}", info.name);
        }
    }
}
