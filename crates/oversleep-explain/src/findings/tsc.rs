//! A time-stamp counter that can't be trusted.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, ResultFile};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, settle};

pub(super) const UNRELIABLE_TSC: FindingEntry = FindingEntry {
    id: "OVS-L010",
    name: "unreliable-tsc",
    summary: "The time-stamp counter is not invariant, or the kernel found it unstable: rdtsc is no clock here.",
    applies_to: "Linux on x86-64",
    scope: Scope::Os("linux"),
    severity: Severity::Cost,
    explanation: "\
An invariant TSC runs at one rate in every frequency and idle state; CPUID leaf 8000_0007h promises it. Without the \
promise the counter may slow down or stop with the processor, and differ between processors. Even with it, the kernel \
watches the TSC against another clock and drops it for good when they disagree, which also takes the vDSO's fast path \
from every clock read. Hypervisors often hide the promise so that a guest can be moved to other hardware.\n\n\
How we know: the CPUID flags, and whether the kernel still offers 'tsc' among its clocksources. The clock table shows \
beside it how the counter behaved here.\n\n\
Cure: read the operating system's clock instead of the counter. On hardware that has the promise, look in the boot log \
for the reason; a firmware update or another instance type is often the cure, forcing tsc=reliable seldom is.",
    remedies: &["use-os-clock", "use-tsc-clocksource"],
    check: |file| settle(unreliable_tsc(file)),
};

fn unreliable_tsc(file: &ResultFile) -> Look<Conclusion> {
    let environment = &file.environment;
    if file.platform.arch != "x86_64" || environment.flag(FactName::CpuTscPresent) == Some(false) {
        return Ok(Conclusion::NotApplicable);
    }
    let invariant = environment.flag(FactName::CpuTscInvariant);
    let unstable = environment.flag(FactName::CpuTscKernelUnstable);
    let source = environment.text(FactName::ClocksourceCurrent);
    let yes_no = |flag: bool| if flag { "yes" } else { "no" };
    let rests = |mut statement: Statement| {
        for (name, flag) in [(FactName::CpuTscInvariant, invariant), (FactName::CpuTscKernelUnstable, unstable)] {
            if let Some(flag) = flag {
                statement = statement.rests_on(name, yes_no(flag));
            }
        }
        match source {
            Some(source) => statement.rests_on(FactName::ClocksourceCurrent, source),
            None => statement,
        }
    };
    if unstable == Some(true) {
        let now = source.map(|source| format!(", the clocksource is '{source}'")).unwrap_or_default();
        let sentence =
            format!("the kernel found the time-stamp counter unstable and dropped it{now}: rdtsc is no clock here");
        return Ok(Conclusion::Found(rests(Statement::new(sentence)).matters(Severity::Fault)));
    }
    let invariant =
        invariant.ok_or_else(|| Conclusion::lacks("not known whether the time-stamp counter is invariant"))?;
    if invariant {
        let sentence = "the time-stamp counter is invariant, and the kernel has nothing against it";
        return Ok(Conclusion::Absent(rests(Statement::new(sentence))));
    }
    let guest = environment.text(FactName::VirtualisationHypervisor).filter(|&kind| kind != "none");
    let hidden = guest.map(|kind| format!(" ({kind} may hide it from the guest)")).unwrap_or_default();
    Ok(Conclusion::Found(rests(Statement::new(format!(
        "the time-stamp counter is not promised to be invariant{hidden}: rdtsc may change its rate with the processor's"
    )))))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;

    use super::super::super::testing::{Explained, Sheet};
    use super::*;

    fn says(sheet: &Sheet) -> (Verdict, Severity, String) {
        let finding = sheet.finding("OVS-L010");
        (finding.verdict, finding.severity, finding.sentence)
    }

    #[test]
    fn the_counter_and_its_doubts() {
        let unstable = Sheet::linux()
            .flag(FactName::CpuTscInvariant, true)
            .flag(FactName::CpuTscKernelUnstable, true)
            .text(FactName::ClocksourceCurrent, "hpet");
        assert_eq!(
            says(&unstable),
            (
                Verdict::Found,
                Severity::Fault,
                "the kernel found the time-stamp counter unstable and dropped it, the clocksource is 'hpet': rdtsc is no \
                 clock here"
                    .into()
            )
        );
        let guest =
            Sheet::linux().flag(FactName::CpuTscInvariant, false).text(FactName::VirtualisationHypervisor, "kvm");
        assert_eq!(
            says(&guest),
            (
                Verdict::Found,
                Severity::Cost,
                "the time-stamp counter is not promised to be invariant (kvm may hide it from the guest): rdtsc may \
                 change its rate with the processor's"
                    .into()
            )
        );
        assert_eq!(says(&Sheet::linux().flag(FactName::CpuTscInvariant, true)).0, Verdict::Absent);
        assert_eq!(says(&Sheet::linux()).2, "not known whether the time-stamp counter is invariant");
        assert_eq!(says(&Sheet::linux()).0, Verdict::NotEnoughData);
    }

    #[test]
    fn other_processors_are_not_asked() {
        let mut arm = Sheet::linux().flag(FactName::CpuTscInvariant, false);
        arm.file.platform.arch = "aarch64".into();
        assert!(!arm.lists("OVS-L010"));
    }
}
