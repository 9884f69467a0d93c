//! Guests, whose hypervisor limits how exact their timing can be.

use oversleep_record::finding::Severity;
use oversleep_record::words::cost;
use oversleep_record::{ExperimentId, FactName, Os, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{median_of, p50};
use crate::finding::{Check, FindingEntry};
use crate::names::MONOTONIC;
use crate::read::{known, of_key, sound_pairs};
use crate::remedies::linux::LOWER_TIMER_SLACK;
use crate::remedies::machine::DEDICATED_CPUS;
use crate::remedies::program::HYBRID_WAIT;

const HYPERVISOR: FactName = FactName::VirtualisationHypervisor;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-L019",
    name: "virtual-machine",
    summary: "This is a guest: the hypervisor, not the processor, limits how accurate its waits and how cheap its \
              clocks can be.",
    applies_to: "Linux under KVM, Hyper-V (WSL2 too), VMware, Xen and others",
    scope: Scope::Os(Os::Linux),
    severity: Severity::Note,
    meaning: "A guest programs its timer through the hypervisor and gives an idle virtual processor back to the host. \
              The interrupt that ends a wait must first bring the virtual processor back, which takes 5 to 50 µs \
              instead of 1 to 5 µs. The host controls idle states and frequencies, and the guest can't see them. The \
              clock may be a page that the hypervisor keeps up to date, and a move to another host can change its \
              rate.",
    how_we_know: "oversleep reads the processor's hypervisor flag and signature. A guest can't see what its exits to the \
                  hypervisor cost; that is part of the timer's share of each wake-up.",
    what_to_do: "Compare a guest only with other guests. Halt polling on the host (kvm.halt_poll_ns), or idle=poll or \
                 haltpoll in the guest, trades CPU time for earlier wake-ups.",
    sources: &["https://docs.kernel.org/virt/guest-halt-polling.html"],
    remedies: &[&DEDICATED_CPUS, &HYBRID_WAIT],
    check: Check::Rule(guest),
}];

fn guest(file: &ResultFile) -> Checked {
    let environment = &file.environment;
    let kind = known(file, HYPERVISOR, "the hypervisor", environment.text(HYPERVISOR))?;
    if kind == "none" {
        return Ok(Conclusion::absent("no hypervisor shows itself here").rests_on(HYPERVISOR, kind));
    }
    let pairs = sound_pairs(file, LOWER_TIMER_SLACK.id);
    let exact = pairs.first().map(|(_, exact)| *exact);
    let read = of_key(file, ExperimentId::A1, MONOTONIC).ok();
    let best: Vec<String> = [
        exact.map(|exact| format!("{} {} late without slack", exact.subject, p50(exact))),
        read.map(|read| format!("a clock read {}", cost(median_of(read)))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let best = if best.is_empty() { String::new() } else { format!(" ({})", best.join(", ")) };
    let named = match environment.text(FactName::VirtualisationWsl).filter(|&wsl| wsl != "none") {
        Some(wsl) => format!("{wsl} under {kind}"),
        None if kind == "other" => "a guest of an unnamed hypervisor or emulator".to_owned(),
        None => format!("a {kind} guest"),
    };
    let sentence = format!("this is {named}: the hypervisor, not the processor, limits its best figures{best}");
    let found = Conclusion::found(sentence).rests_on(HYPERVISOR, kind);
    Ok(found.rests_on_series([exact, read].into_iter().flatten()))
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;

    use crate::testing::{Explained, Sheet};

    #[test]
    fn a_guest_names_its_best_figures() {
        let guest = || Sheet::linux().text(FactName::VirtualisationHypervisor, "kvm");
        guest().trial("lower-timer-slack", "nanosleep", 66_100, 14_200).steady("A1/monotonic", 31_500).finds(
            "OVS-L019",
            "this is a kvm guest: the hypervisor, not the processor, limits its best figures (nanosleep 14.2 µs late without \
             slack, a clock read 31.5 ns)",
        );
        guest().finds("OVS-L019", "this is a kvm guest: the hypervisor, not the processor, limits its best figures");
        Sheet::linux()
            .text(FactName::VirtualisationHypervisor, "hyper-v")
            .text(FactName::VirtualisationWsl, "wsl2")
            .finds(
                "OVS-L019",
                "this is wsl2 under hyper-v: the hypervisor, not the processor, limits its best figures",
            );
        Sheet::linux().text(FactName::VirtualisationHypervisor, "other").finds(
            "OVS-L019",
            "this is a guest of an unnamed hypervisor or emulator: the hypervisor, not the processor, limits its best figures",
        );
    }

    #[test]
    fn bare_metal_and_unknown() {
        Sheet::linux()
            .text(FactName::VirtualisationHypervisor, "none")
            .finds_no("OVS-L019", "no hypervisor shows itself here");
        Sheet::linux().lacks_data("OVS-L019");
    }
}
