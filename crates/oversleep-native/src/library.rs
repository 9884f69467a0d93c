//! The oversleep library, measured like everything else: its clocks and its sleep are in every system's lists.

use oversleep::{Clock as LibraryClock, Instant, Sleeper};
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Target, WaitEnd, Waiter};

use super::fn_clock::{FnClock, Read};

fn nanosecond() -> Option<Nanos> {
    Some(Nanos(1))
}

fn coarse_step() -> Option<Nanos> {
    i64::try_from(LibraryClock::coarse_step().as_nanos()).ok().map(Nanos)
}

/// The library's clock: the plain read, the ordered one, the coarse one.
pub(super) const READS: &[Read] = &[
    ("oversleep", |info| FnClock::new(info, || LibraryClock::now().as_nanos()).step(nanosecond).boxed()),
    ("oversleep-ordered", |info| {
        FnClock::new(info, || LibraryClock::now_ordered().as_nanos()).step(nanosecond).boxed()
    }),
    ("oversleep-coarse", |info| FnClock::new(info, || LibraryClock::coarse().as_nanos()).step(coarse_step).boxed()),
];

type Open = fn() -> Result<Box<dyn Waiter>, Unavailable>;

/// The library's sleep.
pub(super) const CALLS: &[(&str, Open)] = &[("oversleep-sleep-until", || Ok(Box::new(OpenSleeper(Sleeper::new()))))];

struct OpenSleeper(Sleeper);

impl Waiter for OpenSleeper {
    fn wait(&mut self, target: Target) -> WaitEnd {
        // The library's instants count the reference clock's nanoseconds.
        if let Ok(deadline) = u64::try_from(target.deadline.0) {
            self.0.sleep_until(Instant::from_nanos(deadline));
        }
        WaitEnd::TimedOut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_librarys_instants_are_on_the_reference_clock() {
        let platform = super::super::here();
        let before = platform.now();
        let between = Nanos(Instant::now().as_nanos() as i64);
        let after = platform.now();
        // The counter is steered to the reference, not equal to it. In the worst case, if the kernel has just begun to
        // slew its clock, it differs by tens of milliseconds.
        let beside = Nanos::from_millis(50);
        assert!(before - beside <= between && between <= after + beside, "{before} {between} {after}");
    }

    #[test]
    fn its_sleep_is_never_early() {
        let platform = super::super::here();
        let mut sleeper = OpenSleeper(Sleeper::new());
        for _ in 0..20 {
            let deadline = platform.now() + Nanos(200_000);
            sleeper.wait(Target { remaining: Nanos(200_000), deadline });
            assert!(platform.now() + Nanos(1_000) >= deadline);
        }
    }
}
