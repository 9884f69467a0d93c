//! The system, its hypervisor, its libraries and its power.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::{Answer, Entry, named_text, text};
use crate::macos::thermal::Announcements;
use crate::macos::{os, sysctl};
use crate::native::facts::facts;

pub(super) const FACTS: &[Entry] = facts! {
    KernelRelease: "sysctl kern.osrelease" => || named_text("kern.osrelease"),
    OsName: "sysctl kern.osproductversion" => || match sysctl::text("kern.osproductversion") {
        Ok(version) => Ok(FactValue::Text(format!("macOS {version}"))),
        Err(Unavailable::Missing { .. }) => Err(Unavailable::TooOld { needs: "macOS 10.13.4".to_owned() }),
        Err(why) => Err(why),
    },
    VirtualisationHypervisor: "sysctl kern.hv_vmm_present, CPUID leaf 40000000h" => || hypervisor().map(text),
    VirtualisationRosetta: "sysctl sysctl.proc_translated" =>
        || sysctl::flag_or_no("sysctl.proc_translated").map(FactValue::Flag),
    LibcName: "build" => || Ok(text("libSystem")),
    OversleepClock: "oversleep::Clock::why" => || Ok(FactValue::Text(oversleep::Clock::why().to_string())),
    PowerLowPowerMode: "none" =>
        || Err(Unavailable::missing("a C function (NSProcessInfo.lowPowerModeEnabled is Objective-C)")),
    CpufreqReading: "none" => || Err(Unavailable::missing("a public call for the clock rate of a CPU")),
    ThermalSensor: "none" => || Err(Unavailable::missing("a public call for the processor's temperature")),
    ThermalPressure: "notify_get_state of com.apple.system.thermalpressurelevel" =>
        || Announcements::default().pressure().map(|pressure| text(pressure.name())),
    LoadAverage1min: "getloadavg" => load_average,
};

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
