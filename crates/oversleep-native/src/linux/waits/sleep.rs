//! Calls that do nothing but wait.

use super::args;
use super::entry::{Entry, Stateless, proved, thread_sleep};
use super::reason::{ended, ended_by_zero, too_long};
use oversleep_system::{Family, Granularity, SlackRule, Target, WaitEnd, WaitInfo, ZeroMeans};

pub(super) static NANOSLEEP: Entry = Entry {
    info: WaitInfo {
        name: "nanosleep",
        call: "nanosleep",
        doc: "What sleep(), usleep() and most languages' sleeps end in. A loop of relative sleeps drifts: each one's \
              lateness is added to the next start. A span of zero sleeps, too: through the slack.",
        family: Family::Sleep,
        absolute: false,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::SleepsSlack,
        slack: SlackRule::ThreadSlack,
        since: "Linux 2.0",
        page: "https://man7.org/linux/man-pages/man2/nanosleep.2.html",
    },
    open: || proved(Stateless(nanosleep)),
};

fn nanosleep(target: Target) -> WaitEnd {
    let span = args::timespec(target.remaining);
    // SAFETY: `span` is a valid timespec; a null remainder is allowed.
    // https://man7.org/linux/man-pages/man2/nanosleep.2.html
    ended_by_zero(&NANOSLEEP.info, unsafe { libc::nanosleep(&span, std::ptr::null_mut()) })
}

pub(super) static CLOCK_NANOSLEEP: Entry = Entry {
    info: WaitInfo {
        name: "clock-nanosleep",
        call: "clock_nanosleep(CLOCK_MONOTONIC, 0)",
        doc: "nanosleep with a choice of clock; what glibc's nanosleep itself calls. Relative, so a loop of it drifts.",
        family: Family::Sleep,
        absolute: false,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::SleepsSlack,
        slack: SlackRule::ThreadSlack,
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html",
    },
    open: || proved(Stateless(clock_nanosleep)),
};

fn clock_nanosleep(target: Target) -> WaitEnd {
    let span = args::timespec(target.remaining);
    // SAFETY: as for nanosleep. It returns the error number. https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html
    let error = unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &span, std::ptr::null_mut()) };
    ended(&CLOCK_NANOSLEEP.info, error, 0)
}

pub(super) static CLOCK_NANOSLEEP_ABS: Entry = Entry {
    info: WaitInfo {
        name: "clock-nanosleep-abs",
        call: "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)",
        doc: "The call for periodic work: real-time loops, audio engines and cyclictest use it. The deadline doesn't \
              move with the lateness of the wait before. A deadline missed by less than the slack still sleeps the rest of it.",
        family: Family::Sleep,
        absolute: true,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::SleepsSlack,
        slack: SlackRule::ThreadSlack,
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html",
    },
    open: || proved(Stateless(clock_nanosleep_abs)),
};

fn clock_nanosleep_abs(target: Target) -> WaitEnd {
    let deadline = args::timespec(target.deadline);
    // SAFETY: as for nanosleep. It returns the error number. https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html
    let error =
        unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &deadline, std::ptr::null_mut()) };
    ended(&CLOCK_NANOSLEEP_ABS.info, error, 0)
}

pub(super) static USLEEP: Entry = Entry {
    info: WaitInfo {
        name: "usleep",
        call: "usleep",
        doc: "Old C code and shell-like tools. nanosleep in whole microseconds; POSIX removed it in 2008 and allows it \
              to refuse a second or more, which Linux doesn't (at most 71 minutes).",
        family: Family::Sleep,
        absolute: false,
        granularity: Granularity::MICROSECOND,
        zero: ZeroMeans::SleepsSlack,
        slack: SlackRule::ThreadSlack,
        since: "Linux 2.0",
        page: "https://man7.org/linux/man-pages/man3/usleep.3.html",
    },
    open: || proved(Stateless(usleep)),
};

fn usleep(target: Target) -> WaitEnd {
    let Ok(micros) = libc::c_uint::try_from(args::micros(target.remaining)) else { return too_long(&USLEEP.info) };
    // SAFETY: takes a number only. https://man7.org/linux/man-pages/man3/usleep.3.html
    ended_by_zero(&USLEEP.info, unsafe { libc::usleep(micros) })
}

pub(super) static THREAD_SLEEP: Entry = Entry {
    info: WaitInfo {
        name: "thread-sleep",
        call: "std::thread::sleep",
        doc: "What Rust programs call. The system's relative sleep, begun again with the rest when a signal ends it, \
              so signals never shorten it.",
        family: Family::Sleep,
        absolute: false,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ThreadSlack,
        since: "Linux 2.0",
        page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
    },
    open: || proved(Stateless(thread_sleep)),
};

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::super::conformance::{NeverEarly, Signals, check};
    use super::*;

    #[test]
    fn nanosleep_conforms() {
        check(&NANOSLEEP, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn clock_nanosleep_conforms() {
        check(&CLOCK_NANOSLEEP, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn clock_nanosleep_abs_conforms() {
        check(&CLOCK_NANOSLEEP_ABS, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn usleep_conforms_and_refuses_what_it_cannot_say() {
        check(&USLEEP, NeverEarly::Holds, Signals::Interrupt);
        let long = Target { remaining: Nanos::from_secs(4_295), deadline: Nanos::MAX };
        assert!(matches!(usleep(long), WaitEnd::Failed(_)));
    }

    #[test]
    fn thread_sleep_conforms() {
        check(&THREAD_SLEEP, NeverEarly::Holds, Signals::AreRetried);
    }
}
