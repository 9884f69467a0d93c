//! The performance counter, and what Windows has to say about the processor's own counters.

use oversleep_record::Unavailable;
use oversleep_record::clock::AcrossSuspend;

use super::{COMMON, always, none};
use crate::fn_clock::FnClock;
use crate::processor::clocks::Rules;
use crate::processor::tsc;
use crate::windows::os;
use oversleep_system::{Clock, ClockInfo};

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![Box::new(FnClock {
        info: ClockInfo {
            name: "qpc",
            call: "QueryPerformanceCounter",
            doc: "Elapsed time in ticks of QueryPerformanceFrequency (10 MHz on most x86-64, 24 MHz on most ARM64): the \
                  clock to measure with. Made of the processor's counter where Windows trusts it; where not (HPET, ACPI \
                  timer) a read takes about a microsecond.",
            unit: "ticks",
            across_suspend: AcrossSuspend::Continues,
            since: "Windows 2000",
            page: "https://learn.microsoft.com/windows/win32/api/profileapi/nf-profileapi-queryperformancecounter",
            ..COMMON
        },
        available: always,
        frequency_hz: || Some(os::performance_frequency()),
        step: none,
        read: os::performance_count,
    })]
}

pub(super) struct WindowsRules;

impl Rules for WindowsRules {
    /// Windows doesn't take the counters away from a process.
    fn permitted(_instruction: &str) -> Result<(), Unavailable> {
        Ok(())
    }

    fn tsc_hz() -> Option<u64> {
        tsc::hz().ok()
    }
}
