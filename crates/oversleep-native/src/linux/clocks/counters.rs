//! What Linux states about the processor's own counters.

use oversleep_record::Unavailable;

use crate::linux::environment::tsc;
use crate::linux::os;
use crate::processor::clocks::Rules;

pub(super) struct LinuxRules;

impl Rules for LinuxRules {
    /// A process can have its counter reads turned into a SIGSEGV. Where the kernel doesn't answer (a sandbox refuses the
    /// call, or the architecture has it only since 6.12), reads are allowed.
    fn permitted(instruction: &str) -> Result<(), Unavailable> {
        let mut mode: libc::c_int = libc::PR_TSC_ENABLE;
        // SAFETY: this option writes one int to the address it is given.
        // https://man7.org/linux/man-pages/man2/PR_GET_TSC.2const.html
        let read = os::prctl(libc::PR_GET_TSC, &raw mut mode as u64);
        if read.is_ok() && mode == libc::PR_TSC_SIGSEGV {
            return Err(Unavailable::not_permitted(instruction, "prctl(PR_SET_TSC, PR_TSC_ENABLE) by this process"));
        }
        Ok(())
    }

    fn tsc_hz() -> Option<u64> {
        tsc::stated_hz()
    }
}
