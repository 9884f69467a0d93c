//! What this process can observe of the machine's activity.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::{Answer, Entry, Machine, virtualisation};
use crate::linux::os;
use crate::linux::splitter::SwitchWatch;
use crate::native::facts::facts;

pub(super) const FACTS: &[Entry] = facts! {
    PerfParanoid: "/proc/sys/kernel/perf_event_paranoid" =>
        |machine| machine.integer("/proc/sys/kernel/perf_event_paranoid"),
    PerfSwitchTimes: "perf_event_open of a thread's own switches" =>
        |_| Ok(FactValue::Flag(SwitchWatch::open().is_ok())),
    // If PSI is compiled in but switched off, the file opens but every read fails.
    PressureCpu: "/proc/pressure/cpu" =>
        |machine| Ok(FactValue::Flag(machine.files.text("/proc/pressure/cpu").is_ok())),
    StealVisible: "/proc/stat, CPUID leaf 40000001h" => steal,
    LoadAverage1min: "sysinfo" => |_| load_average(),
};

fn steal(machine: &Machine<'_>) -> Answer {
    let stat = machine.files.text("/proc/stat")?;
    let hypervisor = virtualisation::hypervisor(machine.files)?;
    steal_visible(stolen_ticks(&stat), &hypervisor, kvm_reports_steal())
}

fn stolen_ticks(stat: &str) -> Option<u64> {
    stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace().nth(7)?.parse().ok()
}

/// Whether KVM reports steal time to its guest.
#[cfg(target_arch = "x86_64")]
fn kvm_reports_steal() -> Option<bool> {
    use raw_cpuid::native_cpuid::cpuid_count;

    const STEAL_TIME: u32 = 1 << 5;
    let leaves = crate::processor::cpuid::hypervisor_leaves();
    let kvm = leaves.into_iter().find(|leaf| leaf.signature == "KVMKVMKVM")?;
    Some(cpuid_count(kvm.base + 1, 0).eax & STEAL_TIME != 0)
}

#[cfg(not(target_arch = "x86_64"))]
fn kvm_reports_steal() -> Option<bool> {
    None
}

/// A counter above zero is reported. One at zero may be true or not reported at all: KVM says which, and Xen always
/// reports.
fn steal_visible(ticks: Option<u64>, hypervisor: &str, kvm_reports: Option<bool>) -> Answer {
    match (ticks, hypervisor, kvm_reports) {
        (None, ..) => Ok(FactValue::Flag(false)),
        (_, "none", _) => Err(Unavailable::no_hardware("hypervisor that could steal time")),
        (Some(1..), ..) | (_, "xen", _) => Ok(FactValue::Flag(true)),
        (_, "kvm", Some(reports)) => Ok(FactValue::Flag(reports)),
        (_, "hyper-v", _) => Ok(FactValue::Flag(false)),
        _ => Err(Unavailable::missing("a sign that steal time is reported (it has been zero so far)")),
    }
}

fn load_average() -> Answer {
    // SAFETY: all-zero is a valid value of this struct of numbers.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: `info` is a valid struct that the call fills in.
    if unsafe { libc::sysinfo(&mut info) } != 0 {
        return Err(os::failed("sysinfo"));
    }
    // A fixed-point number with 16 fractional bits, rounded to a hundredth as everywhere.
    let average = info.loads[0] as f64 / 65_536.0;
    Ok(FactValue::Real((average * 100.0).round() / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_visible_if_it_is_above_zero_or_the_hypervisor_says_so() {
        let flag = |value| Ok(FactValue::Flag(value));
        assert_eq!(stolen_ticks("cpu  1 2 3 4 5 6 7 8 9 10\n"), Some(8));
        assert_eq!(stolen_ticks("cpu  1 2 3\n"), None);
        assert_eq!(steal_visible(Some(5), "vmware", None), flag(true));
        assert_eq!(steal_visible(Some(0), "kvm", Some(true)), flag(true));
        assert_eq!(steal_visible(Some(0), "kvm", Some(false)), flag(false));
        assert_eq!(steal_visible(Some(0), "xen", None), flag(true));
        assert_eq!(steal_visible(Some(0), "hyper-v", None), flag(false));
        assert!(steal_visible(Some(0), "vmware", None).is_err());
        assert!(steal_visible(Some(0), "none", None).is_err());
        assert_eq!(steal_visible(None, "kvm", Some(true)), flag(false));
    }
}
