//! Bare loops on Linux.

use std::hint::black_box;

use crate::Reason;

const NANOS_PER_SEC: i64 = 1_000_000_000;

fn monotonic() -> libc::timespec {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid, writable timespec. https://man7.org/linux/man-pages/man2/clock_gettime.2.html
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now
}

fn ns(time: libc::timespec) -> i64 {
    time.tv_sec * NANOS_PER_SEC + time.tv_nsec
}

/// A function that reads this clock the given number of times and returns the duration in ns.
pub(super) fn bare_loop(clock: &str) -> Option<fn(u64) -> i64> {
    match clock {
        "monotonic" => Some(monotonic_reads_ns),
        #[cfg(target_arch = "x86_64")]
        "tsc" => Some(counter_reads_ns),
        _ => None,
    }
}

/// All calls write to the same place. Passing each value on would make this loop slower (27 instead of 23 ns on an EPYC
/// under KVM), and hide what the interface adds.
fn monotonic_reads_ns(reads: u64) -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let start = ns(monotonic());
    for _ in 0..reads {
        // SAFETY: as in `monotonic`. The call is opaque to the optimiser, so none is optimised away.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    }
    let duration = ns(monotonic()) - start;
    black_box(now);
    duration
}

#[cfg(target_arch = "x86_64")]
fn counter_reads_ns(reads: u64) -> i64 {
    let start = ns(monotonic());
    for _ in 0..reads {
        // SAFETY: every x86-64 has the instruction, and the caller has checked that the laboratory may read the clock.
        black_box(unsafe { core::arch::x86_64::_rdtsc() });
    }
    ns(monotonic()) - start
}

pub(super) fn thread_cpu_ns() -> Option<u64> {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `used` is a valid, writable timespec. https://man7.org/linux/man-pages/man2/clock_gettime.2.html
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut used) };
    if failed == 0 { u64::try_from(ns(used)).ok() } else { None }
}

/// Lateness of bare absolute waits.
pub(super) fn periodic_lateness_ns(interval_ns: i64, count: usize) -> Result<Vec<i64>, Reason> {
    let mut lateness = Vec::with_capacity(count);
    let mut deadline_ns = ns(monotonic()) + interval_ns;
    for _ in 0..count {
        let deadline = libc::timespec { tv_sec: deadline_ns / NANOS_PER_SEC, tv_nsec: deadline_ns % NANOS_PER_SEC };
        // SAFETY: `deadline` is a valid timespec; the remainder pointer may be null.
        // https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html
        let error = unsafe {
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &deadline, std::ptr::null_mut())
        };
        let end_ns = ns(monotonic());
        if error != 0 {
            return Err(format!("clock_nanosleep: {}", std::io::Error::from_raw_os_error(error)));
        }
        lateness.push(end_ns - deadline_ns);
        deadline_ns += interval_ns;
    }
    Ok(lateness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_loop_takes_time_and_bare_waits_are_never_early() {
        assert!(monotonic_reads_ns(1_000) > 0);
        let lateness = periodic_lateness_ns(10_000, 20).unwrap();
        assert_eq!(lateness.len(), 20);
        assert!(lateness.iter().all(|late| *late >= 0), "{lateness:?}");
    }

    #[test]
    fn cpu_time_grows_with_work() {
        let before_ns = thread_cpu_ns().unwrap();
        assert!(monotonic_reads_ns(10_000) > 0);
        assert!(thread_cpu_ns().unwrap() > before_ns);
    }

    #[test]
    fn clocks_without_a_bare_loop_have_none() {
        assert!(bare_loop("monotonic").is_some());
        assert!(bare_loop("clock").is_none());
    }
}
