//! The calls of the C library.

use oversleep_record::Nanos;

use super::step::timer_resolution_in_milliseconds;
use crate::fn_clock::{FnClock, Read};

pub(super) const READS: &[Read] = &[
    // SAFETY: takes nothing and returns a number.
    ("clock", |info| FnClock::new(info, || u64::try_from(unsafe { clock() }).unwrap_or(0)).step(step_of_clock).boxed()),
    ("time", |info| {
        // SAFETY: a null pointer is allowed: the time is only returned.
        FnClock::new(info, || u64::try_from(unsafe { _time64(std::ptr::null_mut()) }).unwrap_or(0)).boxed()
    }),
];

/// Whether this program is linked with msvcrt.dll; LLVM's variant of the GNU toolchain takes the UCRT.
const MSVCRT: bool = cfg!(all(target_env = "gnu", not(target_abi = "llvm")));

/// The UCRT's clock advances in steps of 1/CLOCKS_PER_SEC.
fn step_of_clock() -> Option<Nanos> {
    if MSVCRT { timer_resolution_in_milliseconds() } else { Some(Nanos::from_millis(1)) }
}

// SAFETY: as <time.h> of Microsoft's C library declares them: clock_t is a 32-bit long, __time64_t has 64 bits.
unsafe extern "C" {
    fn clock() -> i32;
    fn _time64(time: *mut i64) -> i64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_library_moves_with_the_timer_interrupt() {
        let expected = if MSVCRT { timer_resolution_in_milliseconds() } else { Some(Nanos::from_millis(1)) };
        let step = step_of_clock();
        assert!(step.is_some() && step == expected, "{step:?}");
    }
}
