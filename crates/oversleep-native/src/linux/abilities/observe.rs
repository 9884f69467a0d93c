//! What may be seen.

use oversleep_record::environment::FactValue;
use oversleep_record::{FactName, Unavailable};

use crate::linux::cgroup;
use crate::linux::environment;
use crate::linux::files::{Disk, Files};
use crate::linux::splitter::{SwitchWatch, ThreadStatFile};
use crate::survey::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "switch-in times",
        gives: "splits lateness into timer, run queue and return, without privileges",
        look: || SwitchWatch::open().map(|_| "perf_event_open of this thread's switches was granted".to_owned()),
    },
    Entry {
        name: "run-queue delay",
        gives: "how long each measuring thread waited for a CPU",
        look: || ThreadStatFile::open()?.read().map(|_| "/proc/thread-self/schedstat counts".to_owned()),
    },
    Entry {
        name: "CPU pressure",
        gives: "how long tasks of the machine waited for a CPU while something was measured",
        look: || {
            let read = Disk.text("/proc/pressure/cpu").map(|_| "/proc/pressure/cpu".to_owned());
            read.map_err(|why| match why {
                Unavailable::NotPermitted { .. } => why,
                _ => Unavailable::missing("/proc/pressure/cpu (boot with psi=1 on Linux 4.20 or later)"),
            })
        },
    },
    Entry {
        name: "steal time",
        gives: "how long the hypervisor ran something else",
        look: || match environment::fact(FactName::StealVisible) {
            FactValue::Flag(true) => Ok("/proc/stat tells it".to_owned()),
            FactValue::Unknown(why) => Err(why),
            _ => Err(Unavailable::no_hardware("steal time from this hypervisor")),
        },
    },
    Entry {
        name: "other programs' CPU time",
        gives: "how busy the machine was apart from this process",
        look: || Disk.text("/proc/stat").map(|_| "/proc/stat".to_owned()),
    },
    Entry {
        name: "timer interrupts",
        gives: "how many there were while something was measured",
        look: || Disk.text("/proc/interrupts").map(|_| "/proc/interrupts".to_owned()),
    },
    Entry {
        name: "CPU quota and throttling",
        gives: "tells stops that a container's CPU limit causes from everything else",
        look: || cgroup::find(&Disk).map(|groups| format!("control groups version {}", groups.version)),
    },
    Entry {
        name: "idle states",
        gives: "how long the deepest idle state takes to leave",
        look: || known(FactName::CpuidleStates, "/sys/devices/system/cpu/cpu*/cpuidle"),
    },
    Entry {
        name: "clock rate of CPUs",
        gives: "tells a power-saving governor",
        look: || known(FactName::CpufreqGovernor, "/sys/devices/system/cpu/cpufreq"),
    },
    Entry {
        name: "clock rate while measuring",
        gives: "tells a series on a slow CPU from one on a fast CPU",
        look: || known(FactName::CpufreqReading, "read before and after each round"),
    },
    Entry {
        name: "temperature",
        gives: "tells how close to its limit the processor was",
        look: || known(FactName::ThermalSensor, "/sys/class/thermal or hwmon, before and after each round"),
    },
    Entry {
        name: "thermal throttling",
        gives: "tells a processor that slowed down for heat",
        look: || known(FactName::ThermalThrottleCounters, "/sys/devices/system/cpu/cpu*/thermal_throttle"),
    },
    Entry {
        name: "clocksource",
        gives: "tells why clock reads are fast or slow",
        look: || known(FactName::ClocksourceCurrent, "/sys/devices/system/clocksource"),
    },
];

fn known(fact: FactName, seen: &str) -> Result<String, Unavailable> {
    match environment::fact(fact) {
        FactValue::Unknown(why) => Err(why),
        _ => Ok(seen.to_owned()),
    }
}
