//! Calls that do nothing but wait.

use oversleep_system::{Target, WaitEnd, WaitInfo, waits};

use super::args;
use super::entry::{Stateless, proved, thread_sleep};
use super::reason::{ended_by_zero, mach_ended, too_long};
use crate::macos::os::{self, KernReturn};
use crate::native::waits::calls;

calls! { waits::MACOS;
    NANOSLEEP = "nanosleep" => proved(Stateless(nanosleep)),
    MACH_WAIT_UNTIL = "mach-wait-until" => proved(Stateless(until)),
    USLEEP = "usleep" => proved(Stateless(usleep)),
    THREAD_SLEEP = "thread-sleep" => proved(Stateless(thread_sleep)),
}

fn nanosleep(target: Target) -> WaitEnd {
    let span = args::timespec(NANOSLEEP, target.remaining);
    // SAFETY: `span` is a valid timespec; a null remainder is allowed.
    ended_by_zero(NANOSLEEP, unsafe { libc::nanosleep(&raw const span, std::ptr::null_mut()) })
}

// SAFETY: as <mach/mach_time.h> declares it, in libSystem.
unsafe extern "C" {
    // https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_time.h
    fn mach_wait_until(deadline: u64) -> KernReturn;
}

fn until(target: Target) -> WaitEnd {
    let deadline = args::mach_deadline(MACH_WAIT_UNTIL, target.deadline);
    // SAFETY: takes a number.
    match unsafe { mach_wait_until(deadline) } {
        os::SUCCESS => WaitEnd::TimedOut,
        error => mach_ended(MACH_WAIT_UNTIL, error, os::SUCCESS),
    }
}

fn usleep(target: Target) -> WaitEnd {
    let Ok(micros) = libc::c_uint::try_from(args::micros(USLEEP, target.remaining)) else { return too_long(USLEEP) };
    // SAFETY: takes a number only.
    ended_by_zero(USLEEP, unsafe { libc::usleep(micros) })
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, check};
    use super::*;

    #[test]
    fn sleeps_conform() {
        check(NANOSLEEP, NeverEarly::Holds);
        check(MACH_WAIT_UNTIL, NeverEarly::Holds);
        check(USLEEP, NeverEarly::Holds);
        check(THREAD_SLEEP, NeverEarly::Holds);
    }
}
