//! The kinds of findings about a fleet.

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingKind {
    /// Its id.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it says, in general.
    pub summary: &'static str,
    /// What to do.
    pub next_step: &'static str,
}

/// All of them.
pub const FINDINGS: &[FindingKind] = &[UNLIKE, HOURS, ODD, CHANGE, STEAL];

pub(super) const UNLIKE: FindingKind = FindingKind {
    id: "OVS-F001",
    name: "host-unlike-its-group",
    summary: "One host's waits end later or earlier than those of the other hosts of its kind under the same kernel.",
    next_step: "Run `oversleep check` on it and on another host of its kind, and `oversleep compare` the two results.",
};
pub(super) const HOURS: FindingKind = FindingKind {
    id: "OVS-F002",
    name: "host-late-at-certain-hours",
    summary: "One host's waits end later at the same hours of every day, and those of its group don't.",
    next_step: "Run `oversleep watch` there at these hours. Look for a job that runs then, or move the machine: a neighbour \
                on the same hardware shows as late waits without work of your own.",
};
pub(super) const ODD: FindingKind = FindingKind {
    id: "OVS-F003",
    name: "host-set-up-unlike-its-group",
    summary: "A few hosts have another clock source, preemption mode, tick rate or governor than the others of their kind.",
    next_step: "Run `oversleep check` on it: its findings about the clock source and the power settings name the cure.",
};
pub(super) const CHANGE: FindingKind = FindingKind {
    id: "OVS-F004",
    name: "lateness-changed-with-a-fact",
    summary: "Hosts that got another kernel or another setting are later or earlier since, and the others are not.",
    next_step: "Run `oversleep check` under both on one host, and `oversleep compare` the two results: it names what differs.",
};
pub(super) const STEAL: FindingKind = FindingKind {
    id: "OVS-F005",
    name: "hypervisor-takes-time-from-a-group",
    summary: "The hypervisor runs other machines while hosts of one kind want to run, and it doesn't do so elsewhere.",
    next_step: "Rent machines with CPUs of their own, or a larger kind. No setting inside of the machine gives the time back.",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_an_id_and_a_name_of_its_own() {
        for (at, kind) in FINDINGS.iter().enumerate() {
            assert_eq!(kind.id, format!("OVS-F{:03}", at + 1));
            assert!(FINDINGS[..at].iter().all(|other| other.name != kind.name));
            assert!(kind.summary.ends_with('.') && kind.next_step.ends_with('.'));
        }
    }
}
