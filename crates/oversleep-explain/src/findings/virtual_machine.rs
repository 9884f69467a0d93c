//! A guest's floors come from its hypervisor.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, ResultFile};

use super::super::advice::sound_pairs;
use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, median_of, p50, settle, summary, usable};
use super::super::text::cost;

pub(super) const GUEST: FindingEntry = FindingEntry {
    id: "OVS-L019",
    name: "virtual-machine",
    summary: "This is a guest: the floors of its waits and clocks are the hypervisor's, not the processor's.",
    applies_to: "Linux under KVM, Hyper-V (WSL2 too), VMware, Xen and others",
    scope: Scope::Os("linux"),
    severity: Severity::Note,
    explanation: "\
In a guest the timer is programmed through the hypervisor, an idle virtual processor is given back to the host, and the \
interrupt that ends the wait must first bring it back: 5 to 50 µs instead of 1 to 5. Idle states and frequencies are \
the host's and invisible. The clock may be a page the hypervisor keeps up to date, and a move to another host can change \
its rate.\n\n\
How we know: the processor's hypervisor flag and signature. What a guest's exit costs is not visible from inside; it is \
part of the timer's share of each wake-up.\n\n\
What to make of it: compare a guest with guests. Halt polling on the host (kvm.halt_poll_ns), or idle=poll or \
haltpoll in the guest, trade CPU time for earlier wake-ups.",
    remedies: &["dedicated-cpus", "hybrid-wait"],
    check: |file| settle(guest(file)),
};

fn guest(file: &ResultFile) -> Look<Conclusion> {
    let environment = &file.environment;
    let kind = environment
        .text(FactName::VirtualisationHypervisor)
        .ok_or_else(|| Conclusion::lacks("not known whether this is a guest (virtualisation.hypervisor)"))?;
    if kind == "none" {
        let statement = Statement::new("no hypervisor shows itself here");
        return Ok(Conclusion::Absent(statement.rests_on(FactName::VirtualisationHypervisor, kind)));
    }
    let mut floors = Vec::new();
    let mut statement = Statement::default().rests_on(FactName::VirtualisationHypervisor, kind);
    if let Some((_, exact)) = sound_pairs(file, "lower-timer-slack").first() {
        floors.push(format!("{} {} late without slack", exact.subject, p50(exact)));
        statement = statement.rests_on(&exact.key, summary(exact));
    }
    if let Ok(read) = usable(file, "A1/monotonic") {
        floors.push(format!("a clock read {}", cost(median_of(read))));
        statement = statement.rests_on(&read.key, summary(read));
    }
    let floors = if floors.is_empty() { String::new() } else { format!(" ({})", floors.join(", ")) };
    let named = match environment.text(FactName::VirtualisationWsl).filter(|&wsl| wsl != "none") {
        Some(wsl) => format!("{wsl} under {kind}"),
        None => format!("a {kind} guest"),
    };
    statement.sentence = format!("this is {named}: its floors{floors} are the hypervisor's, not the processor's");
    Ok(Conclusion::Found(statement))
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Verdict;

    use super::super::super::testing::{Explained, Sheet};

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-L019");
        (finding.verdict, finding.sentence)
    }

    #[test]
    fn a_guest_names_its_floors() {
        let guest = || Sheet::linux().text(FactName::VirtualisationHypervisor, "kvm");
        assert_eq!(
            says(&guest().trial("lower-timer-slack", "nanosleep", 66_100, 14_200).steady("A1/monotonic", 31_500)),
            (
                Verdict::Found,
                "this is a kvm guest: its floors (nanosleep 14.2 µs late without slack, a clock read 31.5 ns) are the \
                 hypervisor's, not the processor's"
                    .into()
            )
        );
        assert_eq!(says(&guest()).1, "this is a kvm guest: its floors are the hypervisor's, not the processor's");
        let wsl = Sheet::linux()
            .text(FactName::VirtualisationHypervisor, "hyper-v")
            .text(FactName::VirtualisationWsl, "wsl2");
        assert_eq!(says(&wsl).1, "this is wsl2 under hyper-v: its floors are the hypervisor's, not the processor's");
    }

    #[test]
    fn bare_metal_and_unknown() {
        let bare = Sheet::linux().text(FactName::VirtualisationHypervisor, "none");
        assert_eq!(says(&bare), (Verdict::Absent, "no hypervisor shows itself here".into()));
        assert_eq!(says(&Sheet::linux()).0, Verdict::NotEnoughData);
    }
}
