//! The kernel: version, preemption model, boot parameters, isolated CPUs.

use std::io::Read;

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::{Answer, Entry, text};
use crate::linux::files::{Files, shortened};
use crate::linux::os;
use crate::native::facts::facts;

pub(super) const FACTS: &[Entry] = facts! {
    KernelRelease: "uname" => |_| Ok(FactValue::Text(os::kernel_names()?.0)),
    KernelPreemption: "uname, /sys/kernel/debug/sched/preempt, /proc/cmdline, the kernel's configuration" =>
        |machine| {
            let (_, version) = os::kernel_names()?;
            let chosen = machine.files.text("/sys/kernel/debug/sched/preempt").ok();
            let boot = machine.files.text("/proc/cmdline").ok();
            preemption(&version, chosen.as_deref(), boot.as_deref(), machine.configuration().ok()).map(text)
        },
    KernelBootParameters: "/proc/cmdline" =>
        |machine| machine.files.text("/proc/cmdline").map(|line| FactValue::List(boot_parameters(&line))),
    KernelIsolatedCpus: "/sys/devices/system/cpu/isolated" =>
        |machine| cpu_ranges(&machine.files.text("/sys/devices/system/cpu/isolated")?),
    KernelNohzFullCpus: "/sys/devices/system/cpu/nohz_full" =>
        |machine| match machine.files.text("/sys/devices/system/cpu/nohz_full") {
            Ok(list) => cpu_ranges(&list),
            // The file exists only with the feature. If /sys is there without it, no CPU can be one of these.
            Err(_) if machine.files.text("/sys/devices/system/cpu/online").is_ok() => Ok(FactValue::List(Vec::new())),
            Err(why) => Err(why),
        },
};

/// A list such as `2-5,8`; some kernels write `(null)` for an empty one.
fn cpu_ranges(list: &str) -> Answer {
    let list = list.trim();
    if list.is_empty() || list == "(null)" {
        return Ok(FactValue::List(Vec::new()));
    }
    let plausible = list.chars().all(|c| c.is_ascii_digit() || c == '-' || c == ',');
    if !plausible {
        return Err(Unavailable::Nonsense { what: format!("'{}' as a list of CPUs", shortened(list)) });
    }
    Ok(FactValue::List(list.split(',').map(str::to_owned).collect()))
}

/// The kernel's build configuration, from the kernel itself or from where distributions put it.
pub(super) fn configuration(files: &dyn Files) -> Result<String, Unavailable> {
    if let Ok(packed) = files.bytes("/proc/config.gz") {
        let mut text = String::new();
        // A configuration has about 300 KB. The limit keeps a broken file from using up all memory.
        let unpacked = flate2::read::GzDecoder::new(packed.as_slice()).take(4 << 20).read_to_string(&mut text);
        return unpacked.map(|_| text).map_err(|error| Unavailable::failed("unpacking /proc/config.gz", error));
    }
    let (release, _) = os::kernel_names()?;
    [format!("/boot/config-{release}"), format!("/lib/modules/{release}/config")]
        .iter()
        .find_map(|path| files.text(path).ok())
        .ok_or_else(|| Unavailable::missing("the kernel's configuration (/proc/config.gz or /boot/config-*)"))
}

fn is_built_in(configuration: &str, option: &str) -> bool {
    configuration.lines().any(|line| line.strip_prefix(option).is_some_and(|rest| rest.trim_end() == "=y"))
}

/// The preemption model from the kernel's version line, refined by whatever else can be read.
fn preemption(
    version: &str,
    chosen: Option<&str>,
    boot: Option<&str>,
    configuration: Option<&str>,
) -> Result<&'static str, Unavailable> {
    const MODELS: [&str; 4] = ["none", "voluntary", "full", "lazy"];
    let model = |name: &str| MODELS.into_iter().find(|&model| model == name);
    let built = || {
        let option = |option, model| configuration.is_some_and(|text| is_built_in(text, option)).then_some(model);
        option("CONFIG_PREEMPT_LAZY", "lazy")
            .or_else(|| option("CONFIG_PREEMPT", "full"))
            .or_else(|| option("CONFIG_PREEMPT_VOLUNTARY", "voluntary"))
            .or_else(|| option("CONFIG_PREEMPT_NONE", "none"))
    };
    // `PREEMPT RT` on the patched kernels before it was merged.
    if version.contains("PREEMPT_RT") || version.contains("PREEMPT RT") {
        return Ok("rt");
    }
    if version.contains("PREEMPT_DYNAMIC") {
        // The current model is in brackets, in a file that only root may read. Otherwise use the one requested at boot,
        // or the default of the build.
        let in_force = chosen.and_then(|text| model(text.split_once('(')?.1.split_once(')')?.0));
        let at_boot = || boot?.split_whitespace().filter_map(|word| model(word.strip_prefix("preempt=")?)).next_back();
        return Ok(in_force.or_else(at_boot).or_else(built).unwrap_or("dynamic"));
    }
    if version.split_whitespace().any(|word| word == "PREEMPT") {
        return Ok(built().unwrap_or("full"));
    }
    built().ok_or_else(|| Unavailable::missing("the kernel's configuration (it says 'none' or 'voluntary')"))
}

/// Names of boot parameters that affect timing.
const RECOGNISED: &str = "\
    amd_pstate clocksource cpufreq.default_governor cpuidle.governor cpuidle.off cpuidle_haltpoll.force \
    haltpoll.guest_halt_poll_allow_shrink haltpoll.guest_halt_poll_grow haltpoll.guest_halt_poll_grow_start \
    haltpoll.guest_halt_poll_ns haltpoll.guest_halt_poll_shrink highres hpet idle intel_idle.max_cstate intel_pstate \
    irqaffinity isolcpus lapic lapic_timer_c2_ok max_cstate maxcpus mitigations no-kvmclock no-kvmclock-vsyscall \
    no-steal-acc no_timer_check noapic nohalt nohlt nohpet nohz nohz_full nolapic nolapic_timer nosmp nosmt notsc \
    nowatchdog nr_cpus preempt processor.max_cstate psi rcu_nocb_poll rcu_nocbs skew_tick threadirqs tsc \
    tsc_early_khz vdso xen_timer_slop";

/// The recognised parameters of a boot line, with their values. Parameters after `--` are for the init process.
fn boot_parameters(line: &str) -> Vec<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.,:+-=/^".contains(c);
    line.split_whitespace()
        .take_while(|&word| word != "--")
        .filter(|word| RECOGNISED.split(' ').any(|known| word.split('=').next() == Some(known)))
        .filter(|word| word.len() <= 128 && word.chars().all(plain))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    #[test]
    fn only_recognised_boot_parameters_are_kept() {
        let line = "BOOT_IMAGE=/vmlinuz-6.1 root=UUID=123 ro nohz_full=2-5 isolcpus=domain,2-5 user=alice nosmt \
                    mitigations=auto,nosmt tsc=reliable quiet hostname=secret processor.max_cstate=1 -- nosmt --name x";
        assert_eq!(
            boot_parameters(line),
            [
                "nohz_full=2-5",
                "isolcpus=domain,2-5",
                "nosmt",
                "mitigations=auto,nosmt",
                "tsc=reliable",
                "processor.max_cstate=1"
            ]
        );
        assert!(RECOGNISED.split(' ').is_sorted());
    }

    #[test]
    fn the_preemption_model_is_as_precise_as_its_sources() {
        let debian = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)";
        let voluntary = "CONFIG_PREEMPT_BUILD=y\n# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT_VOLUNTARY=y\n";
        let lazy = "CONFIG_PREEMPT_LAZY=y\nCONFIG_PREEMPT_DYNAMIC=y\n";
        let model = |version, chosen, boot, config| preemption(version, chosen, boot, config).ok();
        assert_eq!(model("#1 SMP PREEMPT_RT Debian", None, None, None), Some("rt"));
        assert_eq!(model("#1 SMP PREEMPT RT Tue", None, None, None), Some("rt"));
        assert_eq!(model(debian, Some("none voluntary (full)"), Some("preempt=none"), None), Some("full"));
        assert_eq!(model(debian, Some("none voluntary full (lazy)"), None, None), Some("lazy"));
        assert_eq!(model(debian, None, Some("ro preempt=none preempt=voluntary"), None), Some("voluntary"));
        assert_eq!(model(debian, None, Some("ro"), Some(voluntary)), Some("voluntary"));
        assert_eq!(model(debian, None, None, Some(lazy)), Some("lazy"));
        assert_eq!(model(debian, None, None, None), Some("dynamic"));
        assert_eq!(model("#44 SMP PREEMPT Thu Mar 18", None, None, None), Some("full"));
        assert_eq!(model("#1 SMP PREEMPT Thu", None, None, Some(lazy)), Some("lazy"));
        assert_eq!(model("#1 SMP Fri Jan 27 02:56:13 UTC 2023", None, None, Some(voluntary)), Some("voluntary"));
        assert_eq!(model("#1 SMP Fri Jan 27 02:56:13 UTC 2023", None, None, None), None);
    }

    #[test]
    fn cpu_lists_of_all_kernels() {
        assert_eq!(cpu_ranges(""), Ok(FactValue::List(vec![])));
        assert_eq!(cpu_ranges("(null)"), Ok(FactValue::List(vec![])));
        assert_eq!(cpu_ranges("2-5,8"), Ok(FactValue::List(vec!["2-5".to_owned(), "8".to_owned()])));
        assert!(cpu_ranges("/dev/cpu").is_err());
    }

    #[test]
    fn a_broken_configuration_is_a_reason() {
        let files = Sample::of(&[("/proc/config.gz", "not gzip")]);
        assert!(matches!(configuration(&files), Err(Unavailable::Failed { .. })));
        assert!(matches!(configuration(&Sample::default()), Err(Unavailable::Missing { .. })));
    }
}
