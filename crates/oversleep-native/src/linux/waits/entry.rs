//! By which wait an entry of the table is proved when it is opened.

use oversleep_record::{Nanos, Unavailable};

use crate::linux::Linux;
use crate::native::waits::proved_by;
pub(super) use crate::native::waits::{Call, Stateless, thread_sleep};
use oversleep_system::{WaitInfo, Waiter, waits};

/// The description of that name, looked up while compiling.
pub(super) const fn described(name: &str) -> &'static WaitInfo {
    waits::named(waits::LINUX, name)
}

/// By one of a microsecond.
pub(super) fn proved(waiter: impl Waiter + 'static) -> Result<Box<dyn Waiter>, Unavailable> {
    proved_by::<Linux>(waiter, Nanos::from_micros(1))
}

/// [`proved`] for waits in whole milliseconds: by a wait of nothing, which takes the same way in and out.
pub(super) fn proved_at_once(waiter: impl Waiter + 'static) -> Result<Box<dyn Waiter>, Unavailable> {
    proved_by::<Linux>(waiter, Nanos::ZERO)
}
