//! Calls that do nothing but wait.

use oversleep_system::{Target, WaitEnd, WaitInfo, waits};

use super::args;
use super::entry::{Stateless, proved, thread_sleep};
use super::reason::{ended, ended_by_zero, too_long};
use crate::native::waits::calls;

calls! { waits::LINUX;
    NANOSLEEP = "nanosleep" => proved(Stateless(nanosleep)),
    CLOCK_NANOSLEEP = "clock-nanosleep" => proved(Stateless(clock_nanosleep)),
    CLOCK_NANOSLEEP_ABS = "clock-nanosleep-abs" => proved(Stateless(clock_nanosleep_abs)),
    USLEEP = "usleep" => proved(Stateless(usleep)),
    // The library asserts that its call works, so that is tried first.
    THREAD_SLEEP = "thread-sleep" =>
        proved(Stateless(clock_nanosleep)).and_then(|_| proved(Stateless(thread_sleep))),
}

fn nanosleep(target: Target) -> WaitEnd {
    let span = args::timespec(NANOSLEEP, target.remaining);
    // SAFETY: `span` is a valid timespec; a null remainder is allowed.
    // https://man7.org/linux/man-pages/man2/nanosleep.2.html
    ended_by_zero(NANOSLEEP, unsafe { libc::nanosleep(&span, std::ptr::null_mut()) })
}

fn clock_nanosleep(target: Target) -> WaitEnd {
    let span = args::timespec(CLOCK_NANOSLEEP, target.remaining);
    // SAFETY: as for nanosleep. It returns the error number. https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html
    let error = unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &span, std::ptr::null_mut()) };
    ended(CLOCK_NANOSLEEP, error, 0)
}

fn clock_nanosleep_abs(target: Target) -> WaitEnd {
    let deadline = args::timespec(CLOCK_NANOSLEEP_ABS, target.deadline);
    // SAFETY: as for nanosleep. It returns the error number. https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html
    let error =
        unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &deadline, std::ptr::null_mut()) };
    ended(CLOCK_NANOSLEEP_ABS, error, 0)
}

fn usleep(target: Target) -> WaitEnd {
    let Ok(micros) = libc::c_uint::try_from(args::micros(USLEEP, target.remaining)) else { return too_long(USLEEP) };
    // SAFETY: takes a number only. https://man7.org/linux/man-pages/man3/usleep.3.html
    ended_by_zero(USLEEP, unsafe { libc::usleep(micros) })
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::super::conformance::{NeverEarly, Signals, check};
    use super::*;

    #[test]
    fn nanosleep_conforms() {
        check(NANOSLEEP, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn clock_nanosleep_conforms() {
        check(CLOCK_NANOSLEEP, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn clock_nanosleep_abs_conforms() {
        check(CLOCK_NANOSLEEP_ABS, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn usleep_conforms_and_refuses_what_it_cannot_say() {
        check(USLEEP, NeverEarly::Holds, Signals::Interrupt);
        let long = Target { remaining: Nanos::from_secs(4_295), deadline: Nanos::MAX };
        assert!(matches!(usleep(long), WaitEnd::Failed(_)));
    }

    #[test]
    fn thread_sleep_conforms() {
        check(THREAD_SLEEP, NeverEarly::Holds, Signals::AreRetried);
    }
}
