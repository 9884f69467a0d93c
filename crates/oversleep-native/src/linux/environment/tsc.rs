//! The time-stamp counter of x86, and whether it can be trusted as a clock.

use std::sync::OnceLock;

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::virtualisation::{self, USER_MODE_LINUX};
use super::{Answer, Entry, Machine};
use crate::linux::splitter;
use crate::native::facts::facts;
use crate::processor::tsc as counter;

pub(super) const FACTS: &[Entry] = facts! {
    CpuTscPresent: "CPUID leaf 1" => |_| counter::present().map(FactValue::Flag),
    CpuTscInvariant: "CPUID leaf 80000007h" => |_| counter::invariant().map(FactValue::Flag),
    CpuTscHz: "CPUID leaf 15h, 16h or 40000010h, or the page of a perf event" =>
        |_| hz().map(|hz| FactValue::Integer(hz as i64)),
    CpuTscDeadline: "CPUID leaf 1" => |_| counter::deadline().map(FactValue::Flag),
    CpuTscKernelUnstable: "CPUID against available_clocksource" => |machine| {
        let path = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
        let offered = machine.files.text(path)?;
        dropped(counter::present()?, &offered, &hypervisor(machine))
    },
};

/// The stated ticks per second.
pub fn stated_hz() -> Option<u64> {
    hz().ok()
}

/// If the processor doesn't state the rate, the kernel may: it measured the rate at boot, and exposes the conversion to
/// ns in the page of a perf event. Opened once.
fn hz() -> Result<u64, Unavailable> {
    static BY_KERNEL: OnceLock<Option<u64>> = OnceLock::new();
    counter::hz().or_else(|why| match why {
        Unavailable::NotOnThisPlatform => Err(why),
        _ => BY_KERNEL.get_or_init(splitter::kernel_counter_hz).ok_or(why),
    })
}

fn hypervisor(machine: &Machine<'_>) -> String {
    virtualisation::hypervisor(machine.files).unwrap_or_default()
}

/// The kernel registers `tsc` on every machine with a counter, invariant or not, and stops offering it if its watchdog, an
/// idle state, the firmware or the boot line calls it unstable. Xen, Hyper-V and user-mode Linux have their own clocksources
/// and may hide it from the start, which says nothing.
fn dropped(present: bool, offered: &str, hypervisor: &str) -> Answer {
    let listed = offered.split_whitespace().any(|name| name == "tsc");
    if present && !listed && matches!(hypervisor, "xen" | "hyper-v" | USER_MODE_LINUX) {
        let what = format!("{hypervisor} offers its own clocksource instead of tsc, which says nothing about tsc");
        return Err(Unavailable::Nonsense { what });
    }
    Ok(FactValue::Flag(present && !listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_is_not_offered_was_dropped() {
        assert_eq!(dropped(true, "tsc hpet acpi_pm", "none"), Ok(FactValue::Flag(false)));
        assert_eq!(dropped(true, "hpet acpi_pm", "none"), Ok(FactValue::Flag(true)));
        assert_eq!(dropped(true, "kvm-clock tsc acpi_pm", "kvm"), Ok(FactValue::Flag(false)));
        // As with tsc=unstable, also where a hypervisor hides that the counter is invariant.
        assert_eq!(dropped(true, "hpet acpi_pm", "qemu"), Ok(FactValue::Flag(true)));
        assert_eq!(dropped(false, "hpet acpi_pm", "none"), Ok(FactValue::Flag(false)), "there is none");
        assert!(dropped(true, "hyperv_clocksource_tsc_page acpi_pm", "hyper-v").is_err());
        assert!(dropped(true, "xen", "xen").is_err());
        assert!(dropped(true, "timer", "user-mode-linux").is_err());
    }
}
