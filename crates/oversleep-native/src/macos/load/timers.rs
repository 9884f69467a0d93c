//! Short timers.

use std::time::Duration;

use oversleep_record::Unavailable;
use oversleep_system::Load;

use crate::hogs;

const SPAN: Duration = Duration::from_micros(100);

/// Starts hogs.
pub(super) fn start(count: u32) -> Result<Box<dyn Load>, Unavailable> {
    hogs::start(super::ENTER, count, || {
        Ok(|stopped: &dyn Fn() -> bool| {
            while !stopped() {
                std::thread::sleep(SPAN);
            }
        })
    })
}
