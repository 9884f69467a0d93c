//! Short timers.

use std::time::Duration;

use oversleep_record::Unavailable;

use super::HOGS;
use oversleep_system::{Load, LoadInfo, LoadKind};

/// The kind, by its description.
pub(super) struct Timers(pub &'static LoadInfo);

const SPAN: Duration = Duration::from_micros(100);

impl LoadKind for Timers {
    fn info(&self) -> &LoadInfo {
        self.0
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        HOGS.start(hogs, || {
            Ok(|stopped: &dyn Fn() -> bool| {
                while !stopped() {
                    std::thread::sleep(SPAN);
                }
            })
        })
    }
}
