//! The words allowed in a shared result: those of oversleep's own registries, and those of systems and processor
//! makers. Everything else is left out.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use oversleep_measure::experiment;
use oversleep_record::conditions::Setting;
use oversleep_record::{CommandName, ExperimentId, FactName, Nanos};
use oversleep_system::{clocks, handoffs, loads, tunables, waits};

use crate::machines;

/// The systems that oversleep describes.
const SYSTEMS: [&str; 3] = ["linux", "windows", "macos"];
const ARCHITECTURES: [&str; 5] = ["x86_64", "aarch64", "x86", "arm", "riscv64"];
/// Words in keys other than names of clocks, waits, tunables or remedies.
const KEY_WORDS: &str = "\
    after all-kinds any as-found back-to-back before blocked coarse competing competition cpu_kind efficiency idle \
    interrupts load neighbour none one-way pause performance ping-pong polling power precise random residency resolution \
    single sleeping spinning stated step tolerance uniform wakeups";
/// What files of other programs measure, the command of such results, and parts of their series' keys.
const IMPORTED: &str = "\
    again cpu import jhiccup osnoise sleep-command timerlat-irq timerlat-thread timerlat-user values";
const RUNTIMES: &str = "java go python node cpp c rust free-pascal dotnet mono";

/// Names of clocks, waits, hand-offs, tunables and loads of every system.
static NAMES: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let of_systems = SYSTEMS.into_iter().flat_map(|os| {
        let names = clocks::of(os).iter().map(|info| info.name);
        let names = names.chain(waits::of(os).iter().map(|info| info.name));
        let names = names.chain(handoffs::of(os).iter().map(|info| info.name));
        let names = names.chain(loads::of(os).iter().map(|info| info.name));
        names.chain(
            tunables::of(os)
                .iter()
                .flat_map(|info| std::iter::once(info.name).chain(info.words.iter().map(|word| word.name))),
        )
    });
    let of_keys = KEY_WORDS.split_whitespace().chain(IMPORTED.split_whitespace());
    of_systems.chain(waits::composed::ALL).chain(of_keys).collect()
});

/// Whether it is such a name.
pub fn is_name(text: &str) -> bool {
    NAMES.contains(text)
}

/// The name of a system or an architecture, `unknown` where a file doesn't state it, or `other`.
pub fn system(text: &str) -> String {
    let known = SYSTEMS.into_iter().chain(ARCHITECTURES).chain(["unknown"]).any(|known| known == text);
    if known { text.to_owned() } else { "other".to_owned() }
}

/// The command, and the experiment of what no experiment measures, of results that other programs measured.
const IMPORT: &str = "import";

/// The command, or `other`.
pub fn command(text: &str) -> String {
    let known = CommandName::ALL.iter().any(|known| known.as_str() == text) || text == IMPORT;
    if known { text.to_owned() } else { "other".to_owned() }
}

/// The name of a language's runtime.
pub fn is_runtime(text: &str) -> bool {
    RUNTIMES.split_whitespace().any(|known| known == text)
}

/// An experiment of this version, a trial, or what another program measured.
pub fn is_experiment(id: ExperimentId) -> bool {
    id == ExperimentId::TRIAL || experiment(id).is_some() || id == ExperimentId::new(IMPORT)
}

/// An idle state as named by processors and kernels: `C1E`. `C6_S0Ix` is not one.
pub fn is_idle_state(text: &str) -> bool {
    let rest = text.strip_prefix('C').map(|rest| rest.trim_end_matches("_ACPI").trim_end_matches(['E', 'P', 'S']));
    matches!(text, "POLL" | "WFI" | "haltpoll") || rest.is_some_and(|rest| is_number(rest, 2))
}

/// Whether the text consists of at most this many digits.
pub fn is_number(text: &str, digits_max: usize) -> bool {
    !text.is_empty() && text.len() <= digits_max && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Numbers with dots between them, as versions are: `6.18.5`.
pub fn is_version(text: &str) -> bool {
    text.len() <= 16 && text.split('.').all(|part| is_number(part, 5))
}

/// The version that a text begins with: `0.3.0` of `0.3.0-dev`.
pub fn version(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let version = text[..end].trim_end_matches('.');
    is_version(version).then(|| version.to_owned())
}

/// A setting whose policy has a name that a system uses.
pub fn is_setting(setting: &Setting) -> bool {
    match setting {
        Setting::Policy { policy, .. } => is_name(policy),
        Setting::Nanos(_) | Setting::Flag(_) | Setting::Cpus(_) => true,
    }
}

/// A value in a key or a label: a number, a span, a setting, settings joined by `+`, a load, a name.
pub fn is_value(text: &str) -> bool {
    let is_load = |text: &str| text.split_once(':').is_some_and(|(kind, hogs)| is_name(kind) && is_number(hogs, 6));
    // What rtla measured on one CPU.
    if text.strip_prefix("CPU ").is_some_and(|cpu| is_number(cpu, 4)) {
        return true;
    }
    let is_one = |text: &str| {
        is_name(text)
            || is_number(text, 19)
            || is_load(text)
            || text.parse::<Nanos>().is_ok()
            || is_cpus(text)
            || text.parse().is_ok_and(|setting: Setting| is_setting(&setting))
    };
    text.split('+').all(is_one)
}

/// CPU numbers: `0,2-3`.
fn is_cpus(text: &str) -> bool {
    text.split([',', '-']).all(|number| is_number(number, 4))
}

/// The model and its changes: profiles, and figures that they have, changed to numbers, spans and words of this list.
pub fn model(text: &str) -> String {
    let (name, changes) = text.split_once(" with ").unwrap_or_else(|| text.split_once(", seed").unwrap_or((text, "")));
    let like = name.strip_prefix("like ").and_then(|like| {
        let mut words = like.split(' ');
        Some(format!("like {} {}", system(words.next()?), system(words.next()?)))
    });
    let known = machines::is_known(name).then(|| name.to_owned());
    let name = known.or(like).unwrap_or_else(|| "a machine".to_owned());
    if changes.is_empty() {
        return name;
    }
    let kept: Vec<&str> = changes.split(", ").filter(|change| is_change(change)).collect();
    let all = kept.len() == changes.split(", ").count();
    match (kept.is_empty(), all) {
        (true, _) => format!("{name} with changes"),
        (false, true) => format!("{name} with {}", kept.join(", ")),
        (false, false) => format!("{name} with {} and other changes", kept.join(", ")),
    }
}

/// Words in the names of figures of modelled machines, and in their values.
const FIGURE_WORDS: &str = "\
    aligned asker base call cfs cost costs count cpu cpus delay drops eevdf efficiency everyone exits extra fair false \
    frequencies granularity grid grids h handoff hidden high hz idle kind last late latency load look margin most ms \
    nice ns other p poll policy preempt raises reach real relax requests resolution robin round s scheduler share \
    shortest slack slice start starving steps thread tick tiers time timer timers tolerance true two unit us wake \
    wakeup wakeups window work yield";

/// A change of a modelled machine: `timers.tick=1ms`, `seed 7`, `7`.
pub fn is_change(text: &str) -> bool {
    let is_word = |part: &str| part.is_empty() || FIGURE_WORDS.split_whitespace().any(|word| word == part);
    let is_figure = |path: &str| match path.split_once('.') {
        Some((family, name)) if is_name(name) => is_word(family),
        _ => path.split(['.', '-', '_']).all(is_word),
    };
    match text.split_once('=') {
        Some((path, value)) => is_figure(path) && (value.split(|c: char| !c.is_ascii_alphabetic()).all(is_word)),
        None => is_number(text.trim_start_matches("seed").trim(), 20),
    }
}

/// Words in facts, in lower case: makers and lines of processors, systems and their flavours, drivers and modes.
const FACT_WORDS: &str = "\
    ac acpi acpi-cpufreq acpi-pm acpi_idle acpi_pm amd amd-pstate amd-pstate-epp amd_pstate amd64 amzn apple arch \
    arch_sys_counter arm arm64 athlon atom authenticamd aws azure balanced battery bcm2711 bcm2712 bhyve broadcom c \
    celeron charging clock_realtime cloud conservative container core core(tm) cortex cppc_cpufreq cpu cpufreq-dt \
    cpuinfo_avg_freq currentmhz custom deb debian discharging docker duo dynamic efficiency enterprise epyc fast \
    fedora freebsd full gcp gen generic generic-timer genuineintel glibc gnu graviton haltpoll hardened high hpet \
    hygon hygongenuine hyper-v hyperv hyperv_clocksource_msr hyperv_clocksource_tsc_page \
    hypervisor-reference-counter idle intel intel(r) intel_cpufreq intel_idle intel_pstate jiffies kubernetes \
    kvm kvm-clock kvm-hyperv ladder lazy libsystem linux lowlatency lts lxc m m1 m2 m3 m4 m5 macos mains max \
    maximum menu microsoft mingw mini mode msvc musl n1 n2 neoverse none normal ondemand oracle other parallels \
    pentium performance phenom platinum gold silver bronze podman power powersave processor psci_idle pro qemu \
    raspberrypi-cpufreq raspi realtime red refined-jiffies rpi rr rt ryzen saver scaling_cur_freq schedutil \
    server snapdragon standard silicon suse systemd-nspawn teo threadripper tsc tsc-early ucrt ultimate ultra \
    uniform unknown unspecified userspace v1 v2 v3 v4 v5 v6 virt virtual virtualbox vmware voluntary whpx windows \
    winpthreads wsl wsl1 wsl2 xen xeon xeon(r) x86_64 zen above-normal below-normal time-critical background \
    default utility user-initiated user-interactive fifo batch deadline nominal moderate heavy r1 r2";

/// Flavours of kernels that a number may follow: `fc39`.
const NUMBERED: [&str; 11] = ["fc", "el", "rt", "arch", "zen", "amzn", "rc", "deb", "bpo", "pve", "cm"];

fn is_fact_word(text: &str) -> bool {
    let text = text.to_lowercase();
    FACT_WORDS.split_whitespace().any(|known| known == text)
}

/// A model's number: `7763`, `2686`, `1165G7`, `5950X`, `A72`, `i7`.
fn is_model_number(text: &str) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = text.len() - digits.len();
    let number = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let after = &digits[number..];
    letters <= 1
        && (1..=5).contains(&number)
        && after.len() <= 2
        && after.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// A processor's name, reduced to its maker, its line and its model number.
fn processor(text: &str) -> Option<String> {
    let is_kept = |word: &&str| {
        let rate = word.strip_suffix("GHz").is_some_and(is_version);
        rate || word.split(['-', '@']).all(|part| part.is_empty() || is_fact_word(part) || is_model_number(part))
    };
    let kept: Vec<&str> = text.split_whitespace().filter(is_kept).collect();
    let is_maker =
        kept.iter().any(|word| word.split('-').any(|part| part.len() > 1 && is_fact_word(part) && !is_version(part)));
    is_maker.then(|| kept.join(" "))
}

/// A kernel's release, without custom suffixes: `6.8.0-45-generic`.
fn release(text: &str) -> Option<String> {
    let version = version(text)?;
    let rest = text[version.len()..].split(['-', '.', '+', '~']).filter(|part| {
        let numbered = NUMBERED
            .iter()
            .any(|flavour| part.strip_prefix(flavour).is_some_and(|number| number.is_empty() || is_number(number, 2)));
        is_number(part, 4) || is_fact_word(part) || numbered
    });
    Some(std::iter::once(version.as_str()).chain(rest).collect::<Vec<_>>().join("-"))
}

/// The text if each of its words is known or a number.
fn words(text: &str) -> Option<String> {
    let is_kept = |word: &str| {
        let inner = word.trim_matches(|c: char| "(),;:".contains(c));
        // Windows names its versions `23H2`.
        let is_half_year = inner.split_once('H').is_some_and(|(year, half)| is_number(year, 2) && is_number(half, 1));
        is_fact_word(inner)
            || is_version(inner)
            || is_half_year
            || is_idle_state(inner)
            || matches!(inner, "µs" | "disabled" | "×" | "/")
    };
    text.split_whitespace().all(is_kept).then(|| text.to_owned())
}

/// A boot parameter that affects timing, with its known values.
fn boot_parameter(text: &str) -> Option<String> {
    let known = "amd_pstate clocksource highres hpet idle intel_idle.max_cstate intel_pstate irqaffinity isolcpus \
                 max_cstate maxcpus mitigations nohpet nohz nohz_full nosmt notsc preempt processor.max_cstate psi \
                 rcu_nocb_poll rcu_nocbs skew_tick threadirqs tsc";
    let values = "auto domain managed_irq off on full lazy none nosmt passive active guided poll reliable unstable \
                  voluntary disable";
    let is_value = |value: &str| {
        values.split_whitespace().any(|known| known == value) || is_number(value, 4) || is_fact_word(value)
    };
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let is_kept = known.split_whitespace().any(|known| known == name)
        && (value.is_empty() || value.split([',', '-', ':']).all(is_value));
    is_kept.then(|| text.to_owned())
}

/// The part of a fact's text that may be shared; `None` for a fact that isn't listed.
pub fn of_fact(name: FactName, text: &str) -> Option<String> {
    use FactName as Fact;
    match name {
        Fact::CpuModel => processor(text),
        Fact::KernelRelease => release(text),
        Fact::KernelBootParameters => boot_parameter(text),
        Fact::LibcVersion | Fact::OsWineVersion => version(text),
        Fact::TimerTimebase => text.split('/').all(|part| is_number(part, 10)).then(|| text.to_owned()),
        Fact::ModelName => Some(model(text)),
        Fact::ModelSet => is_change(text).then(|| text.to_owned()),
        Fact::CgroupCpuPeriod | Fact::CgroupCpuQuotaCpus | Fact::CgroupCpuWeight => {
            (text == "none").then(|| text.to_owned())
        }
        Fact::CpuKinds => {
            let (kind, cpus) = text.split_once(' ').unwrap_or((text, "0"));
            (is_name(kind) && is_cpus(cpus)).then(|| text.to_owned())
        }
        Fact::KernelIsolatedCpus | Fact::KernelNohzFullCpus => is_cpus(text).then(|| text.to_owned()),
        Fact::TimerLatencyTier | Fact::SchedQosClass | Fact::SchedPolicy => {
            (is_name(text) || is_fact_word(text)).then(|| text.to_owned())
        }
        Fact::ClocksourceAvailable
        | Fact::ClocksourceCurrent
        | Fact::ContainerKind
        | Fact::CpuVendor
        | Fact::CpufreqDriver
        | Fact::CpufreqGovernor
        | Fact::CpufreqReading
        | Fact::CpuidleDriver
        | Fact::CpuidleGovernor
        | Fact::CpuidleStates
        | Fact::KernelPreemption
        | Fact::LibcName
        | Fact::OsName
        | Fact::PowerPlan
        | Fact::PowerSource
        | Fact::QpcLikelySource
        | Fact::SchedPriorityClass
        | Fact::ThermalPressure
        | Fact::VirtualisationHypervisor
        | Fact::VirtualisationWsl => words(text),
        _ => None,
    }
}

/// The wait, clock or hand-off of that name on some system, for a series' subject.
pub fn is_subject(text: &str) -> bool {
    is_name(text) || is_idle_state(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_and_kernels_keep_what_makers_and_distributions_say() {
        for (text, kept) in [
            ("AMD EPYC 7763 64-Core Processor", "AMD EPYC 7763 64-Core Processor"),
            ("Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz"),
            ("11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz", "Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz"),
            ("AMD Ryzen 7 7730U with Ana's graphics", "AMD Ryzen 7 7730U"),
            ("Apple M1", "Apple M1"),
            ("Cortex-A72", "Cortex-A72"),
        ] {
            assert_eq!(processor(text).as_deref(), Some(kept));
        }
        assert_eq!([processor("anas-laptop"), processor("")], [None, None]);
        for (text, kept) in [
            ("6.8.0-45-generic", "6.8.0-45-generic"),
            ("5.15.90.1-microsoft-standard-WSL2", "5.15.90.1-microsoft-standard-WSL2"),
            ("6.1.0-18-amd64", "6.1.0-18-amd64"),
            ("6.6.8-200.fc39.x86_64", "6.6.8-200-fc39-x86_64"),
            ("6.1.0-anas-laptop+", "6.1.0"),
        ] {
            assert_eq!(release(text).as_deref(), Some(kept));
        }
        assert_eq!(release("anas-kernel"), None);
    }

    #[test]
    fn facts_keep_the_words_of_systems_alone() {
        let kept = |name, text: &str| of_fact(name, text).is_some();
        assert!(kept(FactName::OsName, "Windows 11 23H2") || kept(FactName::OsName, "Windows 11"));
        assert!(kept(FactName::CpuidleStates, "C1E 10 µs") && kept(FactName::CpuidleStates, "C6 133 µs (disabled)"));
        assert!(kept(FactName::KernelBootParameters, "isolcpus=domain,2-5"));
        assert!(!kept(FactName::KernelBootParameters, "isolcpus=ana") && !kept(FactName::OsName, "Windows of Ana"));
        assert!(!kept(FactName::OversleepClock, "tsc"), "prose is not shared");
        assert!(kept(FactName::VirtualisationHypervisor, "kvm") && !kept(FactName::VirtualisationHypervisor, "anas"));
    }

    #[test]
    fn models_keep_their_name_and_the_changes_that_are_figures() {
        assert_eq!(model("windows-11"), "windows-11");
        assert_eq!(model("windows-11 with tick=1ms"), "windows-11 with tick=1ms");
        assert_eq!(model("windows-11 with tick=1ms, facts.os.name=anas"), "windows-11 with tick=1ms and other changes");
        assert_eq!(model("anas-laptop"), "a machine");
        assert_eq!(model("like linux x86_64"), "like linux x86_64");
    }
}
