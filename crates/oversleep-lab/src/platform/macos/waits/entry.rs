//! By which wait an entry of the table is proved when it is opened.

use oversleep_record::{Nanos, Unavailable};

use crate::platform::Waiter;
use crate::platform::macos::MacOs;
use crate::platform::native::waits::proved_by;
pub(super) use crate::platform::native::waits::{Entry, Stateless, thread_sleep};

/// By one of a microsecond.
pub(super) fn proved(waiter: impl Waiter + 'static) -> Result<Box<dyn Waiter>, Unavailable> {
    proved_by::<MacOs>(waiter, Nanos::from_micros(1))
}
