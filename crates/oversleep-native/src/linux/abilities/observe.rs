//! What this process can observe.

use oversleep_record::environment::FactValue;
use oversleep_record::{FactName, Unavailable};

use crate::linux::cgroup;
use crate::linux::environment;
use crate::linux::files::{Disk, Files};
use crate::linux::splitter::{SwitchWatch, ThreadStatFile};
use crate::survey::{Entry, abilities};

const HOST: &str = "virtual machines often lack it: check on the host";
const SENSOR: &str = "load the driver of the processor's sensor, or check on the host";
const INTEL: &str = "Intel's processors have it; in a virtual machine, check on the host";
const SYSFS: &str = "mount sysfs";

pub(super) const ENTRIES: &[Entry] = abilities! {
    "switch-in times": "splits lateness into timer, run queue and return, without privileges" =>
        || SwitchWatch::open().map(|_| "perf_event_open for this thread's switches was granted".to_owned()),
    "run-queue delay": "shows how long each measuring thread waited for a CPU" =>
        || ThreadStatFile::open()?.read().map(|_| "/proc/thread-self/schedstat".to_owned()),
    "CPU pressure": "shows how long the machine's tasks waited for a CPU during a measurement" => || {
        let read = Disk.text("/proc/pressure/cpu").map(|_| "/proc/pressure/cpu".to_owned());
        read.map_err(|why| match why {
            Unavailable::NotPermitted { .. } => why,
            _ => Unavailable::missing("/proc/pressure/cpu (boot Linux 4.20 or later with psi=1)"),
        })
    },
    "steal time": "shows how long the hypervisor ran something else instead of this machine" =>
        || match environment::fact(FactName::StealVisible) {
            FactValue::Flag(true) => Ok("/proc/stat".to_owned()),
            FactValue::Unknown(why) => Err(why),
            _ => Err(Unavailable::no_hardware("steal time from this hypervisor")),
        },
    "other programs' CPU time": "shows how busy the machine was apart from this process" =>
        || Disk.text("/proc/stat").map(|_| "/proc/stat".to_owned()),
    "timer interrupts": "shows how many timer interrupts there were during a measurement" =>
        || Disk.text("/proc/interrupts").map(|_| "/proc/interrupts".to_owned()),
    "CPU quota and throttling": "tells throttling by a container's CPU limit from other delays" =>
        || cgroup::find(&Disk).map(|groups| format!("control groups version {}", groups.version)),
    "idle states": "shows how long a CPU takes to leave its deepest idle state" =>
        || known(FactName::CpuidleStates, "/sys/devices/system/cpu/cpu*/cpuidle", HOST),
    "clock rate of CPUs": "detects a power-saving governor" =>
        || known(FactName::CpufreqGovernor, "/sys/devices/system/cpu/cpufreq", HOST),
    "clock rate while measuring": "distinguishes a series on a slow CPU from one on a fast CPU" =>
        || known(FactName::CpufreqReading, "read before and after each round", HOST),
    "temperature": "shows how close the processor was to its temperature limit" =>
        || known(FactName::ThermalSensor, "/sys/class/thermal or hwmon, before and after each round", SENSOR),
    "thermal throttling": "detects a processor that slowed down because of heat" =>
        || known(FactName::ThermalThrottleCounters, "/sys/devices/system/cpu/cpu*/thermal_throttle", INTEL),
    "clocksource": "explains why clock reads are fast or slow" =>
        || known(FactName::ClocksourceCurrent, "/sys/devices/system/clocksource", SYSFS),
};

/// The evidence for a fact, or the reason why it isn't known, with a hint if something is missing.
fn known(fact: FactName, evidence: &str, hint: &str) -> Result<String, Unavailable> {
    match environment::fact(fact) {
        FactValue::Unknown(Unavailable::Missing { what }) => Err(Unavailable::missing(format!("{what} ({hint})"))),
        FactValue::Unknown(why) => Err(why),
        _ => Ok(evidence.to_owned()),
    }
}
