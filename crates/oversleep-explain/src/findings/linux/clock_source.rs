//! The kernel's clock source: reads that are system calls, and a time-stamp counter that can't be trusted.

use oversleep_record::finding::Severity;
use oversleep_record::words::cost;
use oversleep_record::{ExperimentId, FactName, Os, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::median_of;
use crate::finding::{Check, FindingEntry};
use crate::names::{MONOTONIC, MONOTONIC_SYSCALL};
use crate::read::{is_clock_a_system_call, known, of_key};
use crate::remedies::machine::USE_TSC_CLOCKSOURCE;
use crate::remedies::program::{READ_CLOCK_LESS, USE_OS_CLOCK};
use crate::text::yes_no;

const CLOCKSOURCE: FactName = FactName::ClocksourceCurrent;
const INVARIANT: FactName = FactName::CpuTscInvariant;
const UNSTABLE: FactName = FactName::CpuTscKernelUnstable;

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-L009",
        name: "clock-is-system-call",
        summary: "Each clock read is a system call, because user space can't read the clocksource.",
        applies_to: "Linux with a clocksource other than tsc, kvm-clock, hyperv_clocksource or arch_sys_counter; sandboxes \
                     and kernels without a vDSO",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Cost,
        meaning: "The vDSO, kernel code that runs in user space, answers clock_gettime in tens of nanoseconds. It \
                  needs a clocksource that user space can read: the TSC, the ARM counter, or a hypervisor's page. With \
                  hpet, acpi_pm, xen or jiffies it falls back to a system call, which costs five to fifty times as \
                  much; reading an HPET or PM timer itself takes a microsecond or more. Programs that timestamp every \
                  request or log line notice the difference.",
        how_we_know: "oversleep measures the cost of clock_gettime(CLOCK_MONOTONIC) alongside the same call forced \
                      into the kernel. If both cost the same, both are system calls. It reads the clocksource's name \
                      from sysfs.",
        what_to_do: "Look in the boot log for why the kernel dropped the TSC, and switch back if the hardware is \
                     sound. In a guest, choose another clocksource. Until then, read the clock less often.",
        sources: &["https://man7.org/linux/man-pages/man7/vdso.7.html"],
        remedies: &[&USE_TSC_CLOCKSOURCE, &READ_CLOCK_LESS],
        check: Check::Rule(clock_is_system_call),
    },
    FindingEntry {
        id: "OVS-L010",
        name: "unreliable-tsc",
        summary: "The time-stamp counter is not invariant, or the kernel found it unstable: don't use rdtsc as a clock \
                  here.",
        applies_to: "Linux on x86-64",
        scope: Scope::OsWhere(Os::Linux, has_tsc),
        severity: Severity::Cost,
        meaning: "An invariant TSC runs at one rate in every frequency and idle state; CPUID leaf 8000_0007h states \
                  that a processor has one. Without it, the counter may slow down or stop with the processor, and \
                  differ between processors. Even with it, the kernel checks the TSC against another clock and drops \
                  it for good when they disagree; every clock read then loses the vDSO's fast path too. Hypervisors \
                  often hide the CPUID flag so that they can move a guest to other hardware.",
        how_we_know: "oversleep reads the CPUID flags, and whether the kernel still offers 'tsc' among its \
                      clocksources. The clock table shows how the counter behaved here.",
        what_to_do: "Read the operating system's clock instead of the counter. If the processor has an invariant TSC, \
                     look in the boot log for the reason. A firmware update or another instance type often fixes it; \
                     forcing tsc=reliable seldom does.",
        sources: &["https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html"],
        remedies: &[&USE_OS_CLOCK, &USE_TSC_CLOCKSOURCE],
        check: Check::Rule(unreliable_tsc),
    },
];

fn clock_is_system_call(file: &ResultFile) -> Checked {
    if let Some(how) = file.environment.emulated(&file.platform) {
        return Err(Conclusion::lacks(format!(
            "under an emulator ({how}) the cost of a clock read says nothing about the machine. Run a native build"
        )));
    }
    let source = file.environment.text(CLOCKSOURCE);
    let named = source.map_or_else(|| "the clocksource".to_owned(), |name| format!("clocksource '{name}'"));
    let costs = of_key(file, ExperimentId::A1, MONOTONIC)
        .and_then(|read| Ok((read, of_key(file, ExperimentId::A1, MONOTONIC_SYSCALL)?)));
    let conclusion = match (costs, file.environment.flag(FactName::ClocksourceVdso)) {
        (Ok((read, call)), _) => {
            let (in_user_space, in_kernel) = (median_of(read), median_of(call));
            let both =
                format!("{}, against {} for the call forced into the kernel", cost(in_user_space), cost(in_kernel));
            let conclusion = if is_clock_a_system_call(file) == Some(true) {
                Conclusion::found(format!(
                    "each clock read is a system call here: {named} has no vDSO path, and clock_gettime(CLOCK_MONOTONIC) costs {both}"
                ))
            } else {
                Conclusion::absent(format!("clock_gettime needs no system call with {named}: it costs {both}"))
            };
            conclusion.rests_on_series([read, call])
        }
        (Err(_), Some(false)) => {
            let sentence = format!("each clock read is a system call here: {named} has no vDSO path");
            Conclusion::found(sentence).rests_on(FactName::ClocksourceVdso, "no")
        }
        (Err(refusal), _) => return Err(refusal),
    };
    Ok(conclusion.rests_on_fact(CLOCKSOURCE, source))
}

fn has_tsc(file: &ResultFile) -> bool {
    file.platform.arch == "x86_64" && file.environment.flag(FactName::CpuTscPresent) != Some(false)
}

fn unreliable_tsc(file: &ResultFile) -> Checked {
    let environment = &file.environment;
    let (invariant, unstable) = (environment.flag(INVARIANT), environment.flag(UNSTABLE));
    let source = environment.text(CLOCKSOURCE);
    let conclusion = if unstable == Some(true) {
        let now = source.map(|source| format!(" (the clocksource is '{source}')")).unwrap_or_default();
        Conclusion::found(format!(
            "rdtsc is not a usable clock here: the kernel found the time-stamp counter unstable and dropped it{now}"
        ))
        .matters(Severity::Fault)
    } else if known(file, INVARIANT, "the invariance of the time-stamp counter", invariant)? {
        Conclusion::absent("the time-stamp counter is invariant, and the kernel has not found it unstable")
    } else {
        let guest = environment.text(FactName::VirtualisationHypervisor).filter(|&kind| kind != "none");
        let hidden = guest.map(|kind| format!(" ({kind} may hide the promise from its guest)")).unwrap_or_default();
        Conclusion::found(format!(
            "rdtsc may change its rate with the processor: nothing promises that the time-stamp counter is invariant{hidden}"
        ))
    };
    let rests =
        conclusion.rests_on_fact(INVARIANT, invariant.map(yes_no)).rests_on_fact(UNSTABLE, unstable.map(yes_no));
    Ok(rests.rests_on_fact(CLOCKSOURCE, source))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;

    use super::*;
    use crate::testing::{Explained, Sheet};

    fn costs(read: i64) -> Sheet {
        Sheet::linux()
            .text(FactName::ClocksourceCurrent, "hpet")
            .steady("A1/monotonic", read)
            .steady("A1/monotonic-syscall", 1_230_000)
    }

    #[test]
    fn reads_that_are_system_calls() {
        costs(1_200_000).finds(
            "OVS-L009",
            "each clock read is a system call here: clocksource 'hpet' has no vDSO path, and \
             clock_gettime(CLOCK_MONOTONIC) costs 1.2 µs, against 1.23 µs for the call forced into the kernel",
        );
        costs(31_500).finds_no(
            "OVS-L009",
            "clock_gettime needs no system call with clocksource 'hpet': it costs 31.5 ns, against 1.23 µs for the call \
             forced into the kernel",
        );
        let by_fact = || Sheet::linux().flag(FactName::ClocksourceVdso, false);
        by_fact().finds("OVS-L009", "each clock read is a system call here: the clocksource has no vDSO path");
        Sheet::linux().lacks_data("OVS-L009");
        let mut emulated = by_fact().text(FactName::ClocksourceCurrent, "tsc");
        emulated.file.platform.arch = "aarch64".into();
        let (verdict, sentence) = emulated.says("OVS-L009");
        assert!(verdict == Verdict::NotEnoughData && sentence.contains("under an emulator"), "{sentence}");
        let wild = Sheet::linux().wild("A1/monotonic", 31_500).steady("A1/monotonic-syscall", 192_000);
        wild.is_disturbed("OVS-L009");
    }

    #[test]
    fn the_counter_and_its_doubts() {
        let unstable = Sheet::linux()
            .flag(FactName::CpuTscInvariant, true)
            .flag(FactName::CpuTscKernelUnstable, true)
            .text(FactName::ClocksourceCurrent, "hpet");
        unstable.finds(
            "OVS-L010",
            "rdtsc is not a usable clock here: the kernel found the time-stamp counter unstable and dropped it (the clocksource is 'hpet')",
        );
        assert_eq!(unstable.finding("OVS-L010").severity, Severity::Fault);
        let guest =
            Sheet::linux().flag(FactName::CpuTscInvariant, false).text(FactName::VirtualisationHypervisor, "kvm");
        guest.finds(
            "OVS-L010",
            "rdtsc may change its rate with the processor: nothing promises that the time-stamp counter is invariant (kvm may hide \
             the promise from its guest)",
        );
        assert_eq!(guest.finding("OVS-L010").severity, Severity::Cost);
        assert_eq!(Sheet::linux().flag(FactName::CpuTscInvariant, true).verdict("OVS-L010"), Verdict::NotFound);
        Sheet::linux().lacks_data("OVS-L010");
    }

    #[test]
    fn other_processors_have_no_time_stamp_counter() {
        let mut arm = Sheet::linux().flag(FactName::CpuTscInvariant, false);
        arm.file.platform.arch = "aarch64".into();
        assert!(!arm.lists("OVS-L010"));
    }
}
