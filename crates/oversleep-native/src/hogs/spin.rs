//! Computation without memory or system calls.

use oversleep_record::Unavailable;

use super::Starter;
use crate::threads;
use oversleep_system::{Load, LoadInfo, LoadKind};

/// The kind.
pub struct Spin(pub Starter);

static INFO: LoadInfo = LoadInfo {
    name: "spin",
    doc: "Pure computation, without a pause: each hog takes a whole CPU while the scheduler lets it.",
};

/// A few µs, so that a hog stops soon.
const TURN: u64 = 1_000;

impl LoadKind for Spin {
    fn info(&self) -> &LoadInfo {
        &INFO
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        self.0.start(hogs, || {
            Ok(|stopped: &dyn Fn() -> bool| {
                while !stopped() {
                    threads::work(TURN);
                }
            })
        })
    }
}
