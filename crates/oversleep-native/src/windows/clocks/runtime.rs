//! The calls of the C library.

use oversleep_record::Nanos;
use oversleep_record::clock::{Counts, Epoch};

use super::tick::timer_period_in_milliseconds;
use super::{COMMON, always, milliseconds_hz, none};
use crate::fn_clock::FnClock;
use oversleep_system::{Clock, ClockInfo};

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![
        Box::new(FnClock {
            info: ClockInfo {
                name: "clock",
                call: "clock()",
                doc: "Milliseconds since the process started: elapsed time, where POSIX systems give CPU time under the \
                      same name. Microsoft's newer C library (UCRT) counts them by the performance counter; msvcrt.dll, which \
                      programs of the GNU toolchain use, takes the system time of the last timer interrupt, so that it \
                      moves in steps of the timer period. Ends after 24.8 days.",
                epoch: Epoch::Process,
                unit: "ms",
                bits: 31,
                since: "Windows NT",
                page: "https://learn.microsoft.com/cpp/c-runtime-library/reference/clock",
                ..COMMON
            },
            available: always,
            frequency_hz: milliseconds_hz,
            step: step_of_clock,
            // SAFETY: takes nothing and returns a number.
            read: || u64::try_from(unsafe { clock() }).unwrap_or(0),
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "time",
                call: "_time64(NULL)",
                doc: "Time of day in whole seconds.",
                counts: Counts::TimeOfDay,
                epoch: Epoch::Unix,
                unit: "s",
                since: "Windows NT",
                page: "https://learn.microsoft.com/cpp/c-runtime-library/reference/time-time32-time64",
                ..COMMON
            },
            available: always,
            frequency_hz: || Some(1),
            step: none,
            // SAFETY: a null pointer is allowed: the time is only returned.
            read: || u64::try_from(unsafe { _time64(std::ptr::null_mut()) }).unwrap_or(0),
        }),
    ]
}

/// Whether this program was linked with msvcrt.dll: LLVM's variant of the GNU toolchain takes the UCRT.
const MSVCRT: bool = cfg!(all(target_env = "gnu", not(target_abi = "llvm")));

/// The UCRT's clock moves by CLOCKS_PER_SEC.
fn step_of_clock() -> Option<Nanos> {
    if MSVCRT { timer_period_in_milliseconds() } else { Some(Nanos::from_millis(1)) }
}

// SAFETY: as <time.h> of Microsoft's C library declares them: clock_t is a 32-bit long, __time64_t has 64 bits.
unsafe extern "C" {
    fn clock() -> i32;
    fn _time64(time: *mut i64) -> i64;
}

#[cfg(test)]
mod tests {
    use super::super::tick::timer_period_in_milliseconds;
    use super::*;

    #[test]
    fn the_older_library_moves_with_the_timer_interrupt() {
        let step = registry().iter().find(|clock| clock.info().name == "clock").expect("an entry").stated_step_ns();
        let expected = if MSVCRT { timer_period_in_milliseconds() } else { Some(Nanos::from_millis(1)) };
        assert!(step.is_some() && step == expected, "{step:?}");
    }
}
