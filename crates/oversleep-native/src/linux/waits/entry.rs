//! Tries a wait once when it is opened, so that a call which doesn't work here is reported before it is measured.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::Waiter;

use crate::linux::Linux;
use crate::native::waits::proved_by;

pub(super) use crate::native::waits::{Stateless, thread_sleep};

/// Opens `waiter` after one wait of a microsecond.
pub(super) fn proved(waiter: impl Waiter + 'static) -> Result<Box<dyn Waiter>, Unavailable> {
    proved_by::<Linux>(waiter, Nanos::from_micros(1))
}

/// Like [`proved`], for waits in whole milliseconds: tries a wait of zero, which runs the same code and takes no tick.
pub(super) fn proved_at_once(waiter: impl Waiter + 'static) -> Result<Box<dyn Waiter>, Unavailable> {
    proved_by::<Linux>(waiter, Nanos::ZERO)
}
