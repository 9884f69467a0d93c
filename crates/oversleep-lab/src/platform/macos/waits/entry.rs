//! What an entry of the table is, and how it is opened.

use oversleep_record::{Nanos, Unavailable};

use crate::platform::macos::os;
use crate::platform::{SharedPlatform, Target, Wait, WaitEnd, WaitInfo, Waiter};

/// One entry of the table.
pub(super) struct Entry {
    /// What is known of it.
    pub(super) info: WaitInfo,
    /// Opens it for the calling thread.
    pub(super) open: fn() -> Result<Box<dyn Waiter>, Unavailable>,
}

impl Wait for &'static Entry {
    fn info(&self) -> &WaitInfo {
        &self.info
    }

    fn open(&self, _platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        (self.open)()
    }
}

/// A wait that holds nothing. The call is a type of its own, so that it is inlined and [`Waiter::wait`] stays the only
/// indirection.
pub(super) struct Stateless<F>(pub(super) F);

impl<F: Fn(Target) -> WaitEnd> Waiter for Stateless<F> {
    fn wait(&mut self, target: Target) -> WaitEnd {
        (self.0)(target)
    }
}

/// Boxes `waiter` after one wait of a microsecond, so that a call which can't work here says so when it is opened and
/// not in the middle of a measurement.
pub(super) fn proved(mut waiter: impl Waiter + 'static) -> Result<Box<dyn Waiter>, Unavailable> {
    let remaining = Nanos::from_micros(1);
    match waiter.wait(Target { remaining, deadline: os::now() + remaining }) {
        WaitEnd::Failed(reason) => Err(reason),
        WaitEnd::TimedOut | WaitEnd::Interrupted => Ok(Box::new(waiter)),
    }
}
