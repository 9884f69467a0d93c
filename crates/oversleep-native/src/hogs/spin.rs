//! Computation without memory or system calls.

use oversleep_record::Unavailable;
use oversleep_system::Load;

use crate::threads;

/// A few µs, so that a hog stops soon.
const TURN: u64 = 1_000;

/// Starts hogs.
pub fn start(enter: fn(), hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
    super::start(enter, hogs, || {
        Ok(|stopped: &dyn Fn() -> bool| {
            while !stopped() {
                threads::work(TURN);
            }
        })
    })
}
