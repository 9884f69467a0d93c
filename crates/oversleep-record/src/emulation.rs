//! Detects from its facts whether a result was taken under a user-mode emulator.

use crate::environment::{Environment, PlatformId};
use crate::fact::FactName;

/// Clock sources of Linux on x86, apart from those that any architecture may have.
const CLOCKSOURCES_OF_X86: [&str; 5] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "hpet", "acpi_pm"];
/// The clock source of Linux on ARM.
const CLOCKSOURCE_OF_ARM: &str = "arch_sys_counter";

impl Environment {
    /// Why the processor counts as emulated: the machine's architecture differs from the program's. A user-mode
    /// emulator passes on what the kernel says about the processor and the clock source. `None` for a model.
    pub fn emulated(&self, platform: &PlatformId) -> Option<String> {
        if platform.modelled.is_some() {
            return None;
        }
        let (facts, arch) = (self, platform.arch.as_str());
        let named = [facts.text(FactName::CpuVendor), facts.text(FactName::CpuModel)];
        let is_by =
            |makers: &[&str]| named.iter().flatten().any(|name| makers.iter().any(|maker| name.contains(maker)));
        let is_x86 = matches!(arch, "x86_64" | "x86");
        let foreign = match is_x86 {
            true => is_by(&["Apple"]) || facts.flag(FactName::VirtualisationRosetta) == Some(true),
            false => is_by(&["AMD", "Intel"]),
        };
        if foreign {
            let processor =
                facts.text(FactName::CpuModel).or(facts.text(FactName::CpuVendor)).unwrap_or("another processor");
            return Some(format!("a program for {arch} on {}", processor.trim()));
        }
        let source = facts.text(FactName::ClocksourceCurrent)?;
        let foreign = match is_x86 {
            true => source == CLOCKSOURCE_OF_ARM,
            false => arch == "aarch64" && CLOCKSOURCES_OF_X86.contains(&source),
        };
        foreign.then(|| format!("a program for {arch} on a kernel that keeps time by {source}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::FactValue;

    fn emulated(arch: &str, facts: &[(FactName, &str)]) -> Option<String> {
        let mut environment = Environment::default();
        for (name, text) in facts {
            environment.set(*name, FactValue::Text((*text).to_owned()), "test");
        }
        let platform = PlatformId::real("linux", arch);
        environment.emulated(&platform)
    }

    #[test]
    fn a_kernel_or_a_processor_of_another_architecture_tells() {
        assert_eq!(
            emulated("aarch64", &[(FactName::CpuModel, "AMD EPYC ")]).as_deref(),
            Some("a program for aarch64 on AMD EPYC")
        );
        assert_eq!(
            emulated("aarch64", &[(FactName::ClocksourceCurrent, "tsc")]).as_deref(),
            Some("a program for aarch64 on a kernel that keeps time by tsc")
        );
        assert!(emulated("x86_64", &[(FactName::ClocksourceCurrent, "arch_sys_counter")]).is_some());
        assert_eq!(emulated("aarch64", &[(FactName::ClocksourceCurrent, "arch_sys_counter")]), None);
        assert_eq!(
            emulated("x86_64", &[(FactName::ClocksourceCurrent, "tsc"), (FactName::CpuVendor, "GenuineIntel")]),
            None
        );
        assert_eq!(emulated("riscv64", &[(FactName::ClocksourceCurrent, "riscv_clocksource")]), None);
        assert_eq!(emulated("aarch64", &[]), None);
    }

    #[test]
    fn a_model_is_none() {
        let platform = PlatformId { os: "linux".into(), arch: "aarch64".into(), modelled: Some("pi".into()) };
        let mut environment = Environment::default();
        environment.set(FactName::ClocksourceCurrent, FactValue::Text("tsc".into()), "test");
        assert_eq!(environment.emulated(&platform), None);
    }
}
