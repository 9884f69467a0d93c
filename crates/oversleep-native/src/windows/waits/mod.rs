//! Every timed wait Windows offers to a program, as entries of one table.
//!
//! An entry is a [`WaitInfo`](oversleep_system::WaitInfo) and the function that opens the wait, with its test beneath.
//! Files go by family. The plainest call of a family stands first. Only waits of the operating system and of the
//! standard library enter here: those composed of a wait and a clock (spinning, hybrids) belong to the experiments.
//!
//! All of them are relative: Windows takes a point in time only on the wall clock, which can be set.

mod args;
#[cfg(test)]
mod conformance;
mod ending;
mod entry;
mod event;
mod lock;
mod message;
mod object;
mod poll;
mod pool;
mod sleep;
mod timer;
mod r#yield;

pub(crate) use ending::end_all;
pub(super) use event::{Event, wait_for};
pub(super) use lock::{WAIT_ON_ADDRESS_CALL, WaitOnAddress};
pub(super) use poll::CompletionPort;

use oversleep_system::Wait;

/// The waits of Windows, in the order in which they are listed.
pub(super) fn registry() -> Vec<Box<dyn Wait>> {
    vec![
        Box::new(&sleep::SLEEP),
        Box::new(&sleep::SLEEP_EX),
        Box::new(&sleep::NT_DELAY_EXECUTION),
        Box::new(&sleep::THREAD_SLEEP),
        Box::new(&object::WAIT_FOR_SINGLE_OBJECT),
        Box::new(&object::WAIT_FOR_MULTIPLE_OBJECTS),
        Box::new(&lock::SLEEP_CONDITION_VARIABLE_CS),
        Box::new(&lock::SLEEP_CONDITION_VARIABLE_SRW),
        Box::new(&lock::WAIT_ON_ADDRESS),
        Box::new(&poll::SELECT),
        Box::new(&poll::WSA_POLL),
        Box::new(&poll::GET_QUEUED_COMPLETION_STATUS),
        Box::new(&timer::WAITABLE_TIMER),
        Box::new(timer::Tolerant),
        Box::new(&timer::WAITABLE_TIMER_HIGH_RESOLUTION),
        Box::new(&pool::THREAD_POOL_TIMER),
        Box::new(&pool::TIMER_QUEUE_TIMER),
        Box::new(&pool::TIME_SET_EVENT),
        Box::new(&message::SET_TIMER),
        Box::new(&r#yield::SWITCH_TO_THREAD),
        Box::new(&r#yield::SLEEP_ZERO),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use oversleep_system::Family;

    #[test]
    fn every_entry_is_described_under_its_own_name() {
        let registry = registry();
        let names: BTreeSet<&str> = registry.iter().map(|wait| wait.info().name).collect();
        assert_eq!(names.len(), registry.len());
        for wait in &registry {
            let info = wait.info();
            assert!(info.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", info.name);
            assert!(info.call.len() > 4 && info.doc.ends_with('.'), "{}", info.name);
            assert!(info.since.starts_with("Windows "), "{}", info.name);
            assert!(info.page.starts_with("https://"), "{}", info.name);
            // The call is ours but for the standard library's, which drops what is less than a unit.
            assert_eq!(info.granularity.rounds_up, info.name != "thread-sleep", "{}", info.name);
            assert!(!info.absolute, "{}", info.name);
        }
    }

    #[test]
    fn the_plainest_of_a_family_comes_first() {
        let first = |family| registry().iter().map(|wait| wait.info().clone()).find(|info| info.family == family);
        for (family, name) in [
            (Family::Sleep, "sleep"),
            (Family::Lock, "wait-for-single-object"),
            (Family::Poll, "select"),
            (Family::Timer, "waitable-timer"),
            (Family::Message, "set-timer"),
            (Family::Yield, "switch-to-thread"),
        ] {
            assert_eq!(first(family).map(|info| info.name), Some(name));
        }
    }

    #[test]
    fn only_the_yields_have_no_deadline() {
        for wait in registry() {
            let yields = ["switch-to-thread", "sleep-zero"].contains(&wait.info().name);
            assert_eq!(wait.info().is_timed(), !yields);
            assert_ne!(wait.info().family, Family::Spin);
        }
    }
}
