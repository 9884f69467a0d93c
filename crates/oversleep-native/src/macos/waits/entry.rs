//! How a wait is tried once when it is opened, so that a call which doesn't work here says so before it is measured.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::Waiter;

use crate::macos::MacOs;
use crate::native::waits::proved_by;

pub(super) use crate::native::waits::{Stateless, thread_sleep};

/// Opens `waiter` after one wait of a microsecond.
pub(super) fn proved(waiter: impl Waiter + 'static) -> Result<Box<dyn Waiter>, Unavailable> {
    proved_by::<MacOs>(waiter, Nanos::from_micros(1))
}
