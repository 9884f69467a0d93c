//! The processor: who made it, how many CPUs, of which kinds, and its time-stamp counter.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::Entry;
use crate::cpu_list;
use crate::macos::{cpus, sysctl};
use crate::processor::tsc;

pub(super) const FACTS: &[Entry] = &[
    Entry {
        name: "cpu.vendor",
        doc: "Who designed the processor.",
        source: "CPUID; Apple on its own silicon",
        read: || identity::vendor().map(FactValue::Text),
    },
    Entry {
        name: "cpu.model",
        doc: "Its name as sold.",
        source: "CPUID, or sysctl machdep.cpu.brand_string",
        read: || identity::model().map(FactValue::Text),
    },
    Entry {
        name: "cpu.count",
        doc: "CPUs that are online.",
        source: "sysctl hw.logicalcpu",
        read: || sysctl::integer("hw.logicalcpu").map(FactValue::Integer),
    },
    Entry {
        name: "cpu.kinds",
        doc: "Classes of the CPUs; the thrifty ones wake up and run slower, and threads of the background class stay there.",
        source: "sysctl hw.perflevel*.logicalcpu",
        read: || Ok(FactValue::List(cpu_list::kinds(&cpus::cpus()))),
    },
    Entry {
        name: "cpu.smt",
        doc: "Whether CPUs share cores (hyper-threading): a busy sibling slows its neighbour.",
        source: "sysctl hw.logicalcpu, hw.physicalcpu",
        read: || Ok(FactValue::Flag(sysctl::integer("hw.logicalcpu")? > sysctl::integer("hw.physicalcpu")?)),
    },
    Entry {
        name: "cpu.tsc.present",
        doc: "Whether the processor has a time-stamp counter.",
        source: "CPUID leaf 1",
        read: || tsc::present().map(FactValue::Flag),
    },
    Entry {
        name: "cpu.tsc.invariant",
        doc: "Whether the counter runs at one rate in all power states: without that it is no clock.",
        source: "CPUID leaf 80000007h",
        read: || tsc::invariant().map(FactValue::Flag),
    },
    Entry {
        name: "cpu.tsc.deadline",
        doc: "Whether the local timer can be armed with a value of the counter, which is cheap and exact.",
        source: "CPUID leaf 1",
        read: || tsc::deadline().map(FactValue::Flag),
    },
    Entry {
        name: "cpu.tsc.hz",
        doc: "Ticks of the counter per second, as stated.",
        source: "sysctl machdep.tsc.frequency",
        read: || tsc_hz().and_then(|hz| i64::try_from(hz).map(FactValue::Integer).map_err(|_| nonsense(hz))),
    },
];

fn nonsense(hz: u64) -> Unavailable {
    Unavailable::Nonsense { what: format!("{hz} Hz") }
}

/// Ticks of the time-stamp counter per second.
///
/// # Errors
/// Why nobody states them.
pub fn tsc_hz() -> Result<u64, Unavailable> {
    tsc::present()?;
    let told = sysctl::integer("machdep.tsc.frequency").ok().and_then(|hz| u64::try_from(hz).ok()).filter(|&hz| hz > 0);
    told.map_or_else(tsc::hz, Ok)
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

    /// macOS runs on no other ARM processor.
    pub fn vendor() -> Result<String, Unavailable> {
        Ok("Apple".to_owned())
    }

    pub fn model() -> Result<String, Unavailable> {
        sysctl::text("machdep.cpu.brand_string")
    }
}
