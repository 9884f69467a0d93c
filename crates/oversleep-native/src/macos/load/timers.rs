//! Short timers.

use std::time::Duration;

use oversleep_record::Unavailable;

use super::HOGS;
use oversleep_system::{Load, LoadInfo, LoadKind};

pub(super) struct Timers;

static INFO: LoadInfo = LoadInfo {
    name: "timers",
    doc: "Sleeps 100 µs at a time, up to 10,000 times a second per hog: little CPU time, but many interrupts and switches, \
          as from other programs' timers.",
};

const SPAN: Duration = Duration::from_micros(100);

impl LoadKind for Timers {
    fn info(&self) -> &LoadInfo {
        &INFO
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
