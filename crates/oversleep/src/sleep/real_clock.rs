//! The machine's clock as a source of time.

use std::time::Duration;

use super::waiting::start;
use crate::clock::{Clock, Instant};
use crate::time::{RealClock, TimeSource};

impl TimeSource for RealClock {
    #[inline]
    fn now(&self) -> Instant {
        Clock::now()
    }

    #[inline]
    fn sleep_until(&self, deadline: Instant) {
        super::sleep_until(deadline);
    }

    #[inline]
    fn sleep(&self, duration: Duration) {
        super::sleep(duration);
    }

    /// By the later of the two clocks.
    #[inline]
    fn deadline_in(&self, duration: Duration) -> Instant {
        start().saturating_add(duration)
    }

    #[inline]
    fn sleep_by(&self, _deadline: Instant, system: &mut dyn FnMut()) {
        system();
    }

    #[inline]
    fn wait_by(&self, _deadline: Instant, _has_come: &dyn Fn() -> bool, system: &mut dyn FnMut()) {
        system();
    }

    #[inline]
    fn park_timeout(&self, timeout: Duration) {
        std::thread::park_timeout(timeout);
    }
}
