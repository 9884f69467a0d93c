//! The system, its hypervisor, its libraries and its power.

use oversleep_record::environment::FactValue;
use oversleep_record::{FactName, Unavailable};

use super::{Answer, Entry, named_text, text};
use crate::macos::thermal::Announcements;
use crate::macos::{os, sysctl};

pub(super) const FACTS: &[Entry] = &[
    Entry { name: FactName::KernelRelease, source: "sysctl kern.osrelease", read: || named_text("kern.osrelease") },
    Entry {
        name: FactName::OsName,
        source: "sysctl kern.osproductversion",
        read: || match sysctl::text("kern.osproductversion") {
            Ok(version) => Ok(FactValue::Text(format!("macOS {version}"))),
            Err(Unavailable::Missing { .. }) => Err(Unavailable::TooOld { needs: "macOS 10.13.4".to_owned() }),
            Err(why) => Err(why),
        },
    },
    Entry {
        name: FactName::VirtualisationHypervisor,
        source: "sysctl kern.hv_vmm_present, CPUID leaf 40000000h",
        read: || hypervisor().map(text),
    },
    Entry {
        name: FactName::VirtualisationRosetta,
        source: "sysctl sysctl.proc_translated",
        read: || sysctl::flag_or_no("sysctl.proc_translated").map(FactValue::Flag),
    },
    Entry { name: FactName::LibcName, source: "build", read: || Ok(text("libSystem")) },
    Entry {
        name: FactName::OversleepClock,
        source: "oversleep::Clock::why",
        read: || Ok(FactValue::Text(oversleep::Clock::why().to_string())),
    },
    Entry {
        name: FactName::PowerLowPowerMode,
        source: "none",
        read: || Err(Unavailable::missing("a C function (NSProcessInfo.lowPowerModeEnabled is Objective-C)")),
    },
    Entry {
        name: FactName::CpufreqReading,
        source: "none",
        read: || Err(Unavailable::missing("a public call for the clock rate of a CPU")),
    },
    Entry {
        name: FactName::ThermalSensor,
        source: "none",
        read: || Err(Unavailable::missing("a public call for the processor's temperature")),
    },
    Entry {
        name: FactName::ThermalPressure,
        source: "notify_get_state of com.apple.system.thermalpressurelevel",
        read: || Announcements::default().pressure().map(|pressure| text(pressure.name())),
    },
    Entry { name: FactName::LoadAverage1min, source: "getloadavg", read: load_average },
];

fn hypervisor() -> Result<&'static str, Unavailable> {
    match sysctl::integer("kern.hv_vmm_present") {
        Ok(0) => Ok("none"),
        // Before macOS 11 the kernel doesn't say, but all processors were Intel's.
        Ok(_) | Err(Unavailable::Missing { .. }) => Ok(hypervisor_name()),
        Err(why) => Err(why),
    }
}

#[cfg(target_arch = "x86_64")]
fn hypervisor_name() -> &'static str {
    crate::processor::cpuid::hypervisor()
}

/// Apple silicon has no register that names the hypervisor.
#[cfg(not(target_arch = "x86_64"))]
fn hypervisor_name() -> &'static str {
    "other"
}

fn load_average() -> Answer {
    let mut averages = [0.0];
    // SAFETY: there is room for the one number requested.
    // https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/getloadavg.3.html
    if unsafe { libc::getloadavg(averages.as_mut_ptr(), 1) } != 1 {
        return Err(os::failed("getloadavg"));
    }
    // Rounded to a hundredth, as everywhere.
    Ok(FactValue::Real((averages[0] * 100.0).round() / 100.0))
}
