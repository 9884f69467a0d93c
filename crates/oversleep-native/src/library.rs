//! The library this laboratory serves, measured like everything else: its clock and its sleep as rows of every platform.

use oversleep::{Clock as LibraryClock, Instant, Sleeper};
use oversleep_record::clock::{AcrossSuspend, Epoch};
use oversleep_record::{Nanos, Unavailable};

use super::fn_clock::{COMMON, FnClock, always};
use oversleep_system::waits::library::OVERSLEEP_SLEEP_UNTIL;
use oversleep_system::{Clock, ClockInfo, SharedPlatform, Target, Wait, WaitEnd, WaitInfo, Waiter};

const CLOCK_PAGE: &str = "https://docs.rs/oversleep";

fn nanosecond() -> Option<Nanos> {
    Some(Nanos(1))
}

fn coarse_step() -> Option<Nanos> {
    i64::try_from(LibraryClock::coarse_step().as_nanos()).ok().map(Nanos)
}

fn frequency() -> Option<u64> {
    Some(1_000_000_000)
}

/// The library's clock: the plain read, the ordered one, the coarse one.
pub(super) fn clocks() -> Vec<Box<dyn Clock>> {
    let common = ClockInfo {
        epoch: Epoch::Boot,
        // As the clock it is steered to: only Windows's performance counter goes on.
        across_suspend: if cfg!(windows) { AcrossSuspend::Continues } else { AcrossSuspend::Stops },
        since: "oversleep 0.1",
        page: CLOCK_PAGE,
        ..COMMON
    };
    vec![
        Box::new(FnClock {
            info: ClockInfo {
                name: "oversleep",
                call: "oversleep::Clock::now()",
                doc: "The library's fastest valid clock, in ns of the reference clock: the processor's counter where its \
                      checks pass, else the system's clock. Unordered: don't compare it across threads.",
                ..common.clone()
            },
            available: always,
            frequency_hz: frequency,
            step: nanosecond,
            read: || LibraryClock::now().as_nanos(),
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "oversleep-ordered",
                call: "oversleep::Instant::now()",
                doc: "The same clock read in order, so that values of different threads can be compared.",
                ..common.clone()
            },
            available: always,
            frequency_hz: frequency,
            step: nanosecond,
            read: || Instant::now().as_nanos(),
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "oversleep-coarse",
                call: "oversleep::Clock::coarse()",
                doc: "The library's cheapest read, in steps of the system's tick.",
                ..common
            },
            available: always,
            frequency_hz: frequency,
            step: coarse_step,
            read: || LibraryClock::coarse().as_nanos(),
        }),
    ]
}

/// The library's sleep.
pub(super) fn waits() -> Vec<Box<dyn Wait>> {
    vec![Box::new(SleepUntil)]
}

struct SleepUntil;

impl Wait for SleepUntil {
    fn info(&self) -> &WaitInfo {
        &OVERSLEEP_SLEEP_UNTIL
    }

    fn open(&self, _platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        Ok(Box::new(OpenSleeper(Sleeper::new())))
    }
}

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
        // The counter is steered to the reference, not equal to it; at worst, where the kernel begins to slew its clock just
        // then, it lies tens of milliseconds beside it.
        let beside = Nanos::from_millis(50);
        assert!(before - beside <= between && between <= after + beside, "{before} {between} {after}");
    }

    #[test]
    fn its_sleep_is_never_early() {
        let platform = super::super::here();
        let mut sleeper = SleepUntil.open(&platform).expect("it needs nothing");
        for _ in 0..20 {
            let deadline = platform.now() + Nanos(200_000);
            sleeper.wait(Target { remaining: Nanos(200_000), deadline });
            assert!(platform.now() + Nanos(1_000) >= deadline);
        }
    }
}
