//! The processor: its vendor and model, the number and classes of its CPUs, its counter, and the hypervisor.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;
use windows_sys::Win32::System::Threading::{ALL_PROCESSOR_GROUPS, GetActiveProcessorCount};

use super::{Answer, Entry, registry};
use crate::cpu_list;
use crate::native::facts::facts;
use crate::processor::tsc;
use crate::windows::{os, processors};

pub(super) const FACTS: &[Entry] = facts! {
    CpuVendor: "CPUID; registry, CentralProcessor\\0" => || noted(identity::vendor(), "VendorIdentifier"),
    CpuModel: "CPUID; registry, CentralProcessor\\0" => || noted(identity::brand(), "ProcessorNameString"),
    CpuCount: "GetActiveProcessorCount" => active,
    CpuAllowed: "GetThreadGroupAffinity" => || processors::allowed().map(|cpus| FactValue::Integer(cpus.len() as i64)),
    CpuKinds: "GetLogicalProcessorInformationEx, efficiency class" =>
        || processors::cores().map(|_| FactValue::List(cpu_list::kinds(&processors::cpus()))),
    CpuSmt: "GetLogicalProcessorInformationEx" =>
        || processors::cores().map(|cores| FactValue::Flag(cores.iter().any(|core| core.cpus.len() > 1))),
    CpuTscPresent: "CPUID leaf 1" => || tsc::present().map(FactValue::Flag),
    CpuTscInvariant: "CPUID leaf 80000007h" => || tsc::invariant().map(FactValue::Flag),
    CpuTscHz: "CPUID leaf 15h, 16h or 40000010h" => || tsc::hz().map(|hz| FactValue::Integer(hz as i64)),
    CpuTscDeadline: "CPUID leaf 1" => || tsc::deadline().map(FactValue::Flag),
    VirtualisationHypervisor: "CPUID leaves 40000000h and 40000003h" => || identity::hypervisor().map(FactValue::Text),
};

fn active() -> Answer {
    // SAFETY: takes a number and returns one.
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getactiveprocessorcount
    match unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) } {
        0 => Err(os::failed("GetActiveProcessorCount")),
        count => Ok(FactValue::Integer(i64::from(count))),
    }
}

/// The processor's own statement, otherwise what the system noted about it at boot.
fn noted(by_cpuid: Option<String>, value: &str) -> Answer {
    const NOTES: &str = "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0";
    if let Some(text) = by_cpuid {
        return Ok(FactValue::Text(text));
    }
    let text = registry::machine_text(NOTES, value)?;
    text.map(FactValue::Text).ok_or_else(|| Unavailable::missing(format!("{value} in the registry")))
}

#[cfg(target_arch = "x86_64")]
mod identity {
    use oversleep_record::Unavailable;

    use crate::processor::cpuid;

    pub use crate::processor::cpuid::{brand, vendor};

    pub fn hypervisor() -> Result<String, Unavailable> {
        Ok(cpuid::hypervisor().to_owned())
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod identity {
    use oversleep_record::Unavailable;

    pub fn vendor() -> Option<String> {
        None
    }

    pub fn brand() -> Option<String> {
        None
    }

    pub fn hypervisor() -> Result<String, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_cpuid_the_system_names_the_processor() {
        assert_eq!(noted(Some("ours".to_owned()), "VendorIdentifier"), Ok(FactValue::Text("ours".to_owned())));
        let FactValue::Text(noted) = noted(None, "VendorIdentifier").expect("noted by Windows and Wine") else {
            panic!()
        };
        assert!(!noted.is_empty());
    }
}
