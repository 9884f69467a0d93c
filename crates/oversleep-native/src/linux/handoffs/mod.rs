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

use std::io::Error;

use crate::native::handoffs::{Kind, take};
use crate::unix::handoffs::interrupted;
use oversleep_system::HandoffKind;

/// The hand-offs of Linux, in the order in which they are listed.
pub(super) fn registry() -> Vec<Box<dyn HandoffKind>> {
    let kinds = [&lock::FUTEX, &lock::CONDVAR, &lock::SEMAPHORE, &file::EVENTFD, &file::PIPE, &park::THREAD_PARK];
    kinds.into_iter().map(|kind| Box::new(kind) as Box<dyn HandoffKind>).collect()
}

fn last_error() -> Error {
    Error::last_os_error()
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
}
