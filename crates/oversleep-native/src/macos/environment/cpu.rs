//! The processor: its vendor and model, the number and classes of its CPUs, and its time-stamp counter.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::Entry;
use crate::cpu_list;
use crate::macos::{cpus, sysctl};
use crate::native::facts::facts;
use crate::processor::tsc;

pub(super) const FACTS: &[Entry] = facts! {
    CpuVendor: "CPUID; Apple on its own silicon" => || identity::vendor().map(FactValue::Text),
    CpuModel: "CPUID, or sysctl machdep.cpu.brand_string" => || identity::model().map(FactValue::Text),
    CpuCount: "sysctl hw.logicalcpu" => || sysctl::integer("hw.logicalcpu").map(FactValue::Integer),
    CpuKinds: "sysctl hw.perflevel*.logicalcpu" => || Ok(FactValue::List(cpu_list::kinds(&cpus::cpus()))),
    CpuSmt: "sysctl hw.logicalcpu, hw.physicalcpu" =>
        || Ok(FactValue::Flag(sysctl::integer("hw.logicalcpu")? > sysctl::integer("hw.physicalcpu")?)),
    CpuTscPresent: "CPUID leaf 1" => || tsc::present().map(FactValue::Flag),
    CpuTscInvariant: "CPUID leaf 80000007h" => || tsc::invariant().map(FactValue::Flag),
    CpuTscDeadline: "CPUID leaf 1" => || tsc::deadline().map(FactValue::Flag),
    CpuTscHz: "sysctl machdep.tsc.frequency" =>
        || tsc_hz().and_then(|hz| i64::try_from(hz).map(FactValue::Integer).map_err(|_| nonsense(hz))),
};

fn nonsense(hz: u64) -> Unavailable {
    Unavailable::Nonsense { what: format!("{hz} Hz") }
}

/// Ticks of the time-stamp counter per second.
///
/// # Errors
/// The reason if neither the system nor the processor states them.
pub fn tsc_hz() -> Result<u64, Unavailable> {
    tsc::present()?;
    let hz = sysctl::integer("machdep.tsc.frequency").ok().and_then(|hz| u64::try_from(hz).ok()).filter(|&hz| hz > 0);
    hz.map_or_else(tsc::hz, Ok)
}

#[cfg(target_arch = "x86_64")]
mod identity {
    use oversleep_record::Unavailable;

    use crate::processor::cpuid;

    pub fn vendor() -> Result<String, Unavailable> {
        cpuid::vendor().ok_or_else(|| Unavailable::no_hardware("vendor in CPUID"))
    }

    pub fn model() -> Result<String, Unavailable> {
        cpuid::brand().ok_or_else(|| Unavailable::no_hardware("brand string in CPUID"))
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod identity {
    use oversleep_record::Unavailable;

    use crate::macos::sysctl;

    /// macOS runs on no other vendor's ARM processors.
    pub fn vendor() -> Result<String, Unavailable> {
        Ok("Apple".to_owned())
    }

    pub fn model() -> Result<String, Unavailable> {
        sysctl::text("machdep.cpu.brand_string")
    }
}
