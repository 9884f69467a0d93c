//! The ways one thread wakes another on Windows, as entries of one table.
//!
//! Each is what a careful programmer writes with that primitive: a count that a post before the wait raises, so it is
//! never lost, and a wait that goes on after stray wake-ups. A post always notifies, also where nobody waits, so that
//! its cost doesn't depend on who came first. What std's locks rest on in turn, the alert of a thread by its number, has
//! no public interface.

mod lock;
mod object;

use std::io::Error;

use crate::native::handoffs::{Kind, take};
use oversleep_system::HandoffKind;

/// The hand-offs of Windows, in the order in which they are listed.
pub(super) fn registry() -> Vec<Box<dyn HandoffKind>> {
    let kinds = [&object::EVENT, &lock::CONDVAR, &lock::WAIT_ON_ADDRESS, &object::SEMAPHORE, &object::COMPLETION_PORT];
    kinds.into_iter().map(|kind| Box::new(kind) as Box<dyn HandoffKind>).collect()
}

/// Such a call fails only by a bug here or a handle closed by somebody else, and going on would leave the other thread
/// asleep for ever.
fn expect(worked: bool, call: &str) {
    assert!(worked, "{call}: {}", Error::last_os_error());
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
            ["completion-port", "condvar", "event", "semaphore", "wait-on-address"]
        );
        for kind in &registry {
            let info = kind.info();
            assert!(info.doc.ends_with('.') && info.call.contains(" and "), "{}", info.name);
            assert!(info.since.starts_with("Windows ") && info.page.starts_with("https://"), "{}", info.name);
        }
    }
}
