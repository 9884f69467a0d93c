//! The system, what it runs inside of, its libraries and its power.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::{Answer, Entry, named_text, text};
use crate::macos::thermal::Announcements;
use crate::macos::{os, sysctl};

pub(super) const FACTS: &[Entry] = &[
    Entry {
        name: "kernel.release",
        doc: "Release of the Darwin kernel, which decides what waits and timers do.",
        source: "sysctl kern.osrelease",
        read: || named_text("kern.osrelease"),
    },
    Entry {
        name: "os.name",
        doc: "The system, with its version as sold.",
        source: "sysctl kern.osproductversion",
        read: || match sysctl::text("kern.osproductversion") {
            Ok(version) => Ok(FactValue::Text(format!("macOS {version}"))),
            Err(Unavailable::Missing { .. }) => Err(Unavailable::TooOld { needs: "macOS 10.13.4".to_owned() }),
            Err(why) => Err(why),
        },
    },
    Entry {
        name: "virtualisation.hypervisor",
        doc: "The hypervisor under this machine, or none; it adds its own delays to timers and wake-ups.",
        source: "sysctl kern.hv_vmm_present, CPUID leaf 40000000h",
        read: || hypervisor().map(text),
    },
    Entry {
        name: "virtualisation.rosetta",
        doc: "Whether this program is translated from x86-64; its clock reads and waits cost more for it.",
        source: "sysctl sysctl.proc_translated",
        read: || sysctl::flag_or_no("sysctl.proc_translated").map(FactValue::Flag),
    },
    Entry {
        name: "libc.name",
        doc: "The C library this program was built with.",
        source: "build",
        read: || Ok(text("libSystem")),
    },
    Entry {
        name: "oversleep.clock",
        doc: "The clock the oversleep library chose here, and why each faster one was not.",
        source: "oversleep::Clock::why",
        read: || Ok(FactValue::Text(oversleep::Clock::why().to_string())),
    },
    Entry {
        name: "power.low_power_mode",
        doc: "Whether the user asked for less speed and longer battery life, which slows cores and coalesces timers.",
        source: "none",
        read: || Err(Unavailable::missing("a C function for it (NSProcessInfo.lowPowerModeEnabled is Objective-C)")),
    },
    Entry {
        name: "cpufreq.reading",
        doc: "Where the clock rate beside each series would come from.",
        source: "none",
        read: || Err(Unavailable::missing("a call of macOS that tells programs the clock rate of a CPU")),
    },
    Entry {
        name: "thermal.sensor",
        doc: "The sensor behind the temperature beside each series.",
        source: "none",
        read: || Err(Unavailable::missing("a public call of macOS for the processor's temperature")),
    },
    Entry {
        name: "thermal.pressure",
        doc: "How much heat pressed on the machine when this was taken; from heavy on the system slows down.",
        source: "notify_get_state of com.apple.system.thermalpressurelevel",
        read: || Announcements::default().pressure().map(|pressure| text(pressure.name())),
    },
    Entry {
        name: "load.average_1min",
        doc: "Runnable tasks over the last minute when this was taken.",
        source: "getloadavg",
        read: load_average,
    },
];

fn hypervisor() -> Result<&'static str, Unavailable> {
    match sysctl::integer("kern.hv_vmm_present") {
        Ok(0) => Ok("none"),
        // Before macOS 11 the kernel doesn't say, but every processor was Intel's.
        Ok(_) | Err(Unavailable::Missing { .. }) => Ok(hypervisor_name()),
        Err(why) => Err(why),
    }
}

#[cfg(target_arch = "x86_64")]
fn hypervisor_name() -> &'static str {
    crate::processor::cpuid::hypervisor()
}

/// Apple silicon has no register that says which.
#[cfg(not(target_arch = "x86_64"))]
fn hypervisor_name() -> &'static str {
    "other"
}

fn load_average() -> Answer {
    let mut averages = [0.0];
    // SAFETY: there is room for the one number that is asked for.
    // https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/getloadavg.3.html
    if unsafe { libc::getloadavg(averages.as_mut_ptr(), 1) } != 1 {
        return Err(os::failed("getloadavg"));
    }
    // Told to a hundredth, as everywhere.
    Ok(FactValue::Real((averages[0] * 100.0).round() / 100.0))
}
