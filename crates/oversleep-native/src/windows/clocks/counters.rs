//! What Windows states about the processor's own counters.

use oversleep_record::Unavailable;

use crate::processor::clocks::Rules;
use crate::processor::tsc;

pub(super) struct WindowsRules;

impl Rules for WindowsRules {
    /// Windows doesn't stop processes from reading the counters.
    fn permitted(_instruction: &str) -> Result<(), Unavailable> {
        Ok(())
    }

    fn tsc_hz() -> Option<u64> {
        tsc::hz().ok()
    }
}
