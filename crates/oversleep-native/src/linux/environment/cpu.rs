//! The processor: its vendor and model, and the number and classes of its CPUs.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::{Answer, Entry, Machine};
use crate::cpu_list;
use crate::linux::{cpus, os};
use crate::native::facts::facts;

pub(super) const FACTS: &[Entry] = facts! {
    CpuVendor: "CPUID, or /proc/cpuinfo on ARM" => |machine| identity::vendor(machine).map(FactValue::Text),
    CpuModel: "CPUID, or /proc/cpuinfo on ARM" => |machine| identity::model(machine).map(FactValue::Text),
    CpuCount: "/sys/devices/system/cpu/online, else sysconf(_SC_NPROCESSORS_ONLN)" => online,
    CpuAllowed: "sched_getaffinity" => |_| match os::affinity() {
        Ok(cpus) => Ok(FactValue::Integer(cpus.len() as i64)),
        Err(error) => Err(Unavailable::failed("sched_getaffinity", error)),
    },
    CpuKinds: "/sys/devices/cpu_core/cpus, /sys/devices/cpu_atom/cpus, cpu_capacity" =>
        |machine| Ok(FactValue::List(cpu_list::kinds(&cpus::cpus(machine.files)))),
    CpuSmt: "/sys/devices/system/cpu/smt/active, else cpu0/topology/thread_siblings_list" => smt,
};

fn online(machine: &Machine<'_>) -> Answer {
    let list = machine.files.text("/sys/devices/system/cpu/online").ok().and_then(|text| cpus::parse_list(&text));
    if let Some(list) = list.filter(|list| !list.is_empty()) {
        return Ok(FactValue::Integer(list.len() as i64));
    }
    // SAFETY: takes a number and returns one.
    match unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) } {
        count @ 1.. => Ok(FactValue::Integer(count)),
        _ => Err(os::failed("sysconf(_SC_NPROCESSORS_ONLN)")),
    }
}

fn smt(machine: &Machine<'_>) -> Answer {
    if let Ok(active) = machine.files.integer("/sys/devices/system/cpu/smt/active") {
        return Ok(FactValue::Flag(active == 1));
    }
    let siblings = machine.files.text("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list")?;
    let siblings = cpus::parse_list(&siblings)
        .ok_or_else(|| Unavailable::Nonsense { what: "a list of sibling threads".to_owned() })?;
    Ok(FactValue::Flag(siblings.len() > 1))
}

#[cfg(target_arch = "x86_64")]
mod identity {
    use oversleep_record::Unavailable;

    use super::Machine;
    use crate::processor::cpuid;

    pub fn vendor(_: &Machine<'_>) -> Result<String, Unavailable> {
        cpuid::vendor().ok_or_else(|| Unavailable::no_hardware("vendor in CPUID"))
    }

    pub fn model(_: &Machine<'_>) -> Result<String, Unavailable> {
        cpuid::brand().ok_or_else(|| Unavailable::no_hardware("brand string in CPUID"))
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod identity {
    use oversleep_record::Unavailable;

    use super::{Machine, arm_designs};

    fn designs(machine: &Machine<'_>) -> Result<Vec<(String, String)>, Unavailable> {
        let designs = arm_designs(&machine.files.text("/proc/cpuinfo")?);
        if designs.is_empty() { Err(Unavailable::missing("CPU implementer and part")) } else { Ok(designs) }
    }

    pub fn vendor(machine: &Machine<'_>) -> Result<String, Unavailable> {
        let mut vendors: Vec<String> = designs(machine)?.into_iter().map(|(vendor, _)| vendor).collect();
        vendors.dedup();
        Ok(vendors.join(" + "))
    }

    pub fn model(machine: &Machine<'_>) -> Result<String, Unavailable> {
        let models: Vec<String> = designs(machine)?.into_iter().map(|(_, model)| model).collect();
        Ok(models.join(" + "))
    }
}

/// Core designs in ARM's `/proc/cpuinfo`, each once, in the order of the CPUs. On some boards the file also contains a
/// serial number, so only these two fields are read.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn arm_designs(text: &str) -> Vec<(String, String)> {
    let mut designs = Vec::new();
    let mut implementer = "";
    for (field, value) in text.lines().filter_map(|line| line.split_once(':')) {
        match field.trim() {
            "CPU implementer" => implementer = value.trim(),
            "CPU part" => {
                let design = arm_names(implementer, value.trim());
                if !designs.contains(&design) {
                    designs.push(design);
                }
            }
            _ => {}
        }
    }
    designs
}

/// Numbers of the main identification register, from https://developer.arm.com/documentation and util-linux's lscpu.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn arm_names(implementer: &str, part: &str) -> (String, String) {
    let vendor = match implementer {
        "0x41" => "ARM",
        "0x46" => "Fujitsu",
        "0x48" => "HiSilicon",
        "0x4e" => "NVIDIA",
        "0x51" => "Qualcomm",
        "0x61" => "Apple",
        "0x6d" => "Microsoft",
        "0xc0" => "Ampere",
        other => other,
    };
    let model = match (implementer, part) {
        ("0x41", "0xd03") => "Cortex-A53",
        ("0x41", "0xd04") => "Cortex-A35",
        ("0x41", "0xd05") => "Cortex-A55",
        ("0x41", "0xd07") => "Cortex-A57",
        ("0x41", "0xd08") => "Cortex-A72",
        ("0x41", "0xd09") => "Cortex-A73",
        ("0x41", "0xd0a") => "Cortex-A75",
        ("0x41", "0xd0b") => "Cortex-A76",
        ("0x41", "0xd0c") => "Neoverse-N1",
        ("0x41", "0xd0d") => "Cortex-A77",
        ("0x41", "0xd40") => "Neoverse-V1",
        ("0x41", "0xd41") => "Cortex-A78",
        ("0x41", "0xd44") => "Cortex-X1",
        ("0x41", "0xd46") => "Cortex-A510",
        ("0x41", "0xd47") => "Cortex-A710",
        ("0x41", "0xd48") => "Cortex-X2",
        ("0x41", "0xd49") => "Neoverse-N2",
        ("0x41", "0xd4f") => "Neoverse-V2",
        ("0xc0", "0xac3") => "Ampere-1",
        ("0xc0", "0xac4") => "Ampere-1A",
        _ => return (vendor.to_owned(), format!("implementer {implementer} part {part}")),
    };
    (vendor.to_owned(), model.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    #[test]
    fn a_raspberry_pi_is_named_without_its_serial_number() {
        let text = "processor\t: 0\nBogoMIPS\t: 108.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd08\n\
                    processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nHardware\t: BCM2835\n\
                    Serial\t\t: 10000000abcdef01\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n";
        assert_eq!(arm_designs(text), [("ARM".to_owned(), "Cortex-A72".to_owned())]);
    }

    #[test]
    fn two_designs_and_an_unknown_one() {
        let text = "CPU implementer : 0x41\nCPU part : 0xd05\nCPU implementer : 0x99\nCPU part : 0x001\n";
        let designs = arm_designs(text);
        assert_eq!(designs[0].1, "Cortex-A55");
        assert_eq!(designs[1], ("0x99".to_owned(), "implementer 0x99 part 0x001".to_owned()));
        assert!(arm_designs("model name : Intel(R) Xeon(R)\n").is_empty());
    }

    #[test]
    fn smt_by_switch_or_by_siblings() {
        let smt = |files: &[(&'static str, &'static str)]| smt(&Machine::new(&Sample::of(files)));
        let siblings = "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
        assert_eq!(smt(&[("/sys/devices/system/cpu/smt/active", "1\n")]), Ok(FactValue::Flag(true)));
        assert_eq!(smt(&[(siblings, "0,4\n")]), Ok(FactValue::Flag(true)));
        assert_eq!(smt(&[(siblings, "0\n")]), Ok(FactValue::Flag(false)));
        assert_eq!(smt(&[]), Err(Unavailable::missing(siblings)));
    }

    #[test]
    fn online_cpus_are_counted_from_the_list() {
        let files = Sample::of(&[("/sys/devices/system/cpu/online", "0-3,8\n")]);
        assert_eq!(online(&Machine::new(&files)), Ok(FactValue::Integer(5)));
    }
}
