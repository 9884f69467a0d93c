//! Every timed wait Linux offers to a program, as entries of one table.
//!
//! An entry is a [`WaitInfo`](oversleep_system::WaitInfo) and the function that opens the wait, with its test beneath.
//! Files go by family; what several entries need (argument conversion, error reasons, blocked signals, the futex call)
//! has a file of its own. Only waits of the operating system and of the standard libraries enter here: those composed
//! of a wait and a clock (spinning, hybrids) belong to the experiments.
//!
//! Every span and deadline is counted on `CLOCK_MONOTONIC`.

mod args;
#[cfg(test)]
mod conformance;
mod entry;
pub(super) mod futex;
mod io_uring;
mod itimer;
mod lock;
mod message;
mod poll;
mod posix_timer;
mod reason;
#[cfg(test)]
mod refusal;
mod ring;
mod signals;
mod sleep;
mod socket;
mod timerfd;
mod r#yield;

use oversleep_system::Wait;

/// The waits of Linux, in the order in which they are listed.
pub(super) fn registry() -> Vec<Box<dyn Wait>> {
    let entries = [
        &sleep::NANOSLEEP,
        &sleep::CLOCK_NANOSLEEP,
        &sleep::CLOCK_NANOSLEEP_ABS,
        &sleep::USLEEP,
        &sleep::THREAD_SLEEP,
        &poll::SELECT,
        &poll::PSELECT,
        &poll::POLL,
        &poll::PPOLL,
        &poll::EPOLL_WAIT,
        &poll::EPOLL_PWAIT2,
        &socket::SO_RCVTIMEO,
        &lock::FUTEX,
        &lock::FUTEX_ABS,
        &lock::COND_TIMEDWAIT,
        &lock::SEM_TIMEDWAIT,
        &message::SIGTIMEDWAIT,
        &message::MQ_TIMEDRECEIVE,
        &timerfd::TIMERFD,
        &posix_timer::TIMER_CREATE,
        &itimer::SETITIMER,
        &io_uring::IO_URING,
        &r#yield::SCHED_YIELD,
    ];
    entries.into_iter().map(|entry| Box::new(entry) as Box<dyn Wait>).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use oversleep_system::Family;

    #[test]
    fn every_entry_is_described() {
        for wait in registry() {
            let info = wait.info();
            assert!(
                info.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{}",
                info.name
            );
            assert!(info.call.len() > 4 && info.doc.ends_with('.'), "{}", info.name);
            assert!(info.since.starts_with("Linux "), "{}", info.name);
            assert!(info.page.starts_with("https://"), "{}", info.name);
            assert!(info.granularity.rounds_up, "{}: a wait of ours never rounds down", info.name);
        }
    }

    #[test]
    fn names_are_unique_and_those_the_documentation_promises() {
        let registry = registry();
        let names: BTreeSet<&str> = registry.iter().map(|wait| wait.info().name).collect();
        assert_eq!(names.len(), registry.len());
        let promised = "clock-nanosleep clock-nanosleep-abs cond-timedwait epoll-pwait2 epoll-wait futex futex-abs \
                        io-uring mq-timedreceive nanosleep poll ppoll pselect sched-yield select sem-timedwait \
                        setitimer sigtimedwait so-rcvtimeo thread-sleep timer-create timerfd usleep";
        assert_eq!(names.into_iter().collect::<Vec<_>>(), promised.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn only_the_yield_has_no_deadline() {
        for wait in registry() {
            assert_eq!(wait.info().is_timed(), wait.info().name != "sched-yield");
            assert_ne!(wait.info().family, Family::Spin);
        }
    }
}
