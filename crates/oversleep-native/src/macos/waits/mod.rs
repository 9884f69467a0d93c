//! Every timed wait macOS offers to a program, as entries of one table.
//!
//! An entry is a [`WaitInfo`](oversleep_system::WaitInfo) and the function that opens the wait. Files go by family. Only
//! waits of the operating system and of the standard libraries enter here: those composed of a wait and a clock
//! (spinning, hybrids) belong to the experiments.
//!
//! The kernel may end every wait of user code late by a share of its length, which the thread's latency tier decides
//! ([`SlackRule::ClassShare`](oversleep_system::SlackRule::ClassShare)); real-time threads and timers marked as critical
//! are spared. `setitimer` isn't here: its signal goes to whichever thread of the process lets it through, and macOS has
//! no timed wait for a signal.

mod address;
mod args;
mod condition;
#[cfg(test)]
mod conformance;
mod dispatch;
mod entry;
mod kqueue;
mod poll;
mod reason;
mod semaphore;
mod sleep;
mod r#yield;

pub(super) use kqueue::queue;

use oversleep_system::Wait;

/// The waits of macOS, in the order in which they are listed.
pub(super) fn registry() -> Vec<Box<dyn Wait>> {
    let entries = [
        &sleep::NANOSLEEP,
        &sleep::MACH_WAIT_UNTIL,
        &sleep::USLEEP,
        &sleep::THREAD_SLEEP,
        &poll::SELECT,
        &poll::PSELECT,
        &poll::POLL,
        &kqueue::KEVENT,
        &kqueue::TIMER,
        &kqueue::TIMER_CRITICAL,
        &kqueue::TIMER_LEEWAY,
        &condition::COND_TIMEDWAIT,
        &condition::COND_TIMEDWAIT_RELATIVE,
        &semaphore::MACH_SEMAPHORE,
        &semaphore::DISPATCH_SEMAPHORE,
        &address::WAIT_ON_ADDRESS,
        &dispatch::SOURCE_STRICT,
        &dispatch::SOURCE,
        &r#yield::SCHED_YIELD,
        &r#yield::SWTCH_PRI,
    ];
    entries.into_iter().map(|entry| Box::new(entry) as Box<dyn Wait>).collect()
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
        for wait in registry {
            let info = wait.info();
            assert!(
                info.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{}",
                info.name
            );
            assert!(info.call.len() > 4 && info.doc.ends_with('.'), "{}", info.name);
            assert!(info.since.contains("OS ") && info.page.starts_with("https://"), "{}", info.name);
            assert!(info.granularity.rounds_up, "{}: a wait of ours never rounds down", info.name);
            assert_eq!(info.is_timed(), info.family != Family::Yield);
            assert_ne!(info.family, Family::Spin);
        }
    }
}
