//! Computation without memory or system calls.

use oversleep_record::Unavailable;

use super::Starter;
use crate::threads;
use oversleep_system::{Load, LoadInfo, LoadKind};

/// The kind.
pub struct Spin {
    /// Its description.
    pub info: &'static LoadInfo,
    /// How hogs are started.
    pub hogs: Starter,
}

/// A few µs, so that a hog stops soon.
const TURN: u64 = 1_000;

impl LoadKind for Spin {
    fn info(&self) -> &LoadInfo {
        self.info
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        self.hogs.start(hogs, || {
            Ok(|stopped: &dyn Fn() -> bool| {
                while !stopped() {
                    threads::work(TURN);
                }
            })
        })
    }
}
