//! How long the machine was suspended: one clock counts suspend, the other doesn't.

use std::sync::atomic::{AtomicI64, Ordering};

use oversleep_record::Nanos;

use crate::linux::os;

/// A smaller change is none: the clocks are read one after the other.
const SHORTEST: Nanos = Nanos::from_millis(1);
/// How often the clocks are read if the thread loses its CPU in between.
const READINGS_MAX: usize = 4;

/// The time in suspend since boot. It never decreases.
pub(super) struct Suspend {
    /// As last reported; negative as long as it is not known.
    reported_ns: AtomicI64,
}

/// One reading of both clocks.
#[derive(Clone, Copy)]
struct Clocks {
    boot_time: Nanos,
    /// CLOCK_MONOTONIC before and after.
    monotonic: [Nanos; 2],
}

impl Clocks {
    /// `None`: this kernel has no clock that counts suspend.
    fn read() -> Option<Clocks> {
        let before = os::monotonic_now();
        let boot_time = Some(Nanos(os::clock_ns(libc::CLOCK_BOOTTIME) as i64)).filter(|&time| time > Nanos::ZERO)?;
        Some(Clocks { boot_time, monotonic: [before, os::monotonic_now()] })
    }

    /// Whether the thread kept its CPU from the first clock to the last.
    fn are_close(&self) -> bool {
        self.monotonic[1] - self.monotonic[0] < SHORTEST
    }
}

impl Suspend {
    pub fn new() -> Suspend {
        Suspend { reported_ns: AtomicI64::new(-1) }
    }

    /// The time in suspend since boot; `None` if it can't be known.
    pub fn since_boot(&self) -> Option<Nanos> {
        self.of(Clocks::read)
    }

    fn of(&self, mut read: impl FnMut() -> Option<Clocks>) -> Option<Nanos> {
        let reported = Nanos(self.reported_ns.load(Ordering::Relaxed));
        for _ in 0..READINGS_MAX {
            let clocks = read()?;
            if clocks.are_close() {
                let now = (clocks.boot_time - clocks.monotonic[1]).max(Nanos::ZERO);
                if reported >= Nanos::ZERO && now - reported < SHORTEST {
                    return Some(reported);
                }
                return Some(Nanos(self.reported_ns.fetch_max(now.0, Ordering::Relaxed)).max(now));
            }
        }
        Some(reported).filter(|&reported| reported >= Nanos::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = Nanos::from_millis(1);

    fn clocks(boot_time: Nanos, before: Nanos, after: Nanos) -> Option<Clocks> {
        Some(Clocks { boot_time, monotonic: [before, after] })
    }

    #[test]
    fn only_a_suspend_moves_the_two_clocks_apart() {
        let suspend = Suspend::new();
        let of = |boot_time, monotonic| suspend.of(|| clocks(boot_time, monotonic, monotonic));
        let before_this_run = MS * 5_000 + Nanos(300);
        assert_eq!(of(MS * 7_000 + Nanos(300), MS * 2_000), Some(before_this_run));
        assert_eq!(of(MS * 7_100 - Nanos(900), MS * 2_100), Some(before_this_run), "jitter");
        assert_eq!(of(MS * 9_000, MS * 2_200), Some(MS * 6_800));
        assert_eq!(of(MS * 9_100, MS * 2_400), Some(MS * 6_800), "it never decreases");
        assert_eq!(suspend.of(|| None), None);
    }

    #[test]
    fn a_thread_that_loses_its_cpu_between_the_clocks_is_no_suspend() {
        let suspend = Suspend::new();
        let torn = || clocks(MS * 100, MS * 100, MS * 104);
        let mut readings = [torn(), clocks(MS * 104, MS * 104, MS * 104)].into_iter();
        assert_eq!(suspend.of(|| readings.next().flatten()), Some(Nanos::ZERO));
        assert_eq!(suspend.of(torn), Some(Nanos::ZERO), "the last known one");
        assert_eq!(suspend.of(|| clocks(MS * 200, MS * 196, MS * 200)), Some(Nanos::ZERO));
        assert_eq!(Suspend::new().of(torn), None, "never seen undisturbed");
    }
}
