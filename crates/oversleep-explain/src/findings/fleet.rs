//! Findings about many machines over weeks. `archive report` judges them from the rows of an archive, so no result of one
//! machine is checked for them.

use oversleep_record::finding::Severity;

use crate::entry::Scope;
use crate::finding::{Check, FindingEntry};
use crate::remedies::linux::FORBID_DEEP_IDLE;
use crate::remedies::machine::{DEDICATED_CPUS, FEWER_RUNNABLE_THREADS, PERFORMANCE_GOVERNOR, USE_TSC_CLOCKSOURCE};

/// Where these hold.
const APPLIES_TO: &str = "archives of the results of ten or more machines of a kind, over a week or more";

pub(super) static FAMILIES: &[&[FindingEntry]] = &[FINDINGS];

/// All of them.
pub static FINDINGS: &[FindingEntry] = &[UNLIKE, HOURS, ODD, CHANGE, STEAL];

/// A host whose waits are unlike those of its kind.
pub const UNLIKE: FindingEntry = FindingEntry {
    id: "OVS-F001",
    name: "host-unlike-its-group",
    summary: "One host's waits end later or earlier than those of the other hosts of its kind under the same kernel.",
    applies_to: APPLIES_TO,
    scope: Scope::Fleet,
    severity: Severity::Cost,
    meaning: "Machines with the same processor, CPUs and hypervisor under the same kernel wait alike. One that \
              doesn't has something that the others have not: a neighbour, a job, another setting of the firmware, a \
              failing fan. It may have been so since its first row, or since a day.",
    how_we_know: "oversleep compares p50 and p99 of each host with the median of its group in the same six hours. Where \
                  fewer than five hosts have results in them, it takes that of the same day, and what the group has at \
                  these hours more or less than on whole days. How far apart is unusual follows from the spread of the group (median absolute deviation), and how \
                  certain it is from the differences between the days of the host. For a host that was like its group \
                  first, the days since then are compared with those before, and at least two days must differ. All \
                  comparisons of an archive together are wrong with a probability of 1 %.",
    what_to_do: "Run `oversleep check` on the host and on another one of its kind, and `oversleep compare` the two \
                 results.",
    sources: &[],
    remedies: &[&FEWER_RUNNABLE_THREADS, &PERFORMANCE_GOVERNOR, &FORBID_DEEP_IDLE],
    check: Check::OfFleet,
};

/// A host that is late at the same hours of every day.
pub const HOURS: FindingEntry = FindingEntry {
    id: "OVS-F002",
    name: "host-late-at-certain-hours",
    summary: "One host's waits end later at the same hours of every day, and those of its group don't.",
    applies_to: APPLIES_TO,
    scope: Scope::Fleet,
    severity: Severity::Cost,
    meaning: "Something uses the machine, or the hardware beneath it, at these hours: a backup, a batch job, or a \
              neighbour's. On a virtual machine, a neighbour on the same hardware shows as late waits without work of \
              your own.",
    how_we_know: "oversleep compares each quarter of a day (in UTC) with the other quarters of the same day, on the \
                  host and on its group. The host must differ from its group by more than its hosts differ from one \
                  another, on nearly every day.",
    what_to_do: "Run `oversleep watch` there at these hours, and look for a job that runs then. If there is none, a \
                 virtual machine may have a neighbour on the same hardware: move it. A machine without a hypervisor has \
                 none.",
    sources: &[],
    remedies: &[&FEWER_RUNNABLE_THREADS, &DEDICATED_CPUS],
    check: Check::OfFleet,
};

/// A host that is set up unlike the others of its kind.
pub const ODD: FindingEntry = FindingEntry {
    id: "OVS-F003",
    name: "host-set-up-unlike-its-group",
    summary: "A few hosts have another clock source, preemption mode, tick rate or governor than the others of their \
              kind.",
    applies_to: "archives of the results of ten or more machines of a kind",
    scope: Scope::Fleet,
    severity: Severity::Note,
    meaning: "Machines of a kind under the same kernel are usually set up alike, so an exception is rarely meant. The \
              clock source may have changed by itself: the kernel drops a counter that fails a check, and stays with \
              the next one until it boots again.",
    how_we_know: "oversleep counts the newest value of each fact on the hosts of a kind under the same kernel. At \
                  most one in ten hosts is an exception; more are a variant. That is a fact, so it has no interval.",
    what_to_do: "Run `oversleep check` on the host: its findings about the clock source and the power settings name the \
                 cure.",
    sources: &[],
    remedies: &[&USE_TSC_CLOCKSOURCE, &PERFORMANCE_GOVERNOR],
    check: Check::OfFleet,
};

/// A change of a fact after which hosts are later or earlier.
pub const CHANGE: FindingEntry = FindingEntry {
    id: "OVS-F004",
    name: "lateness-changed-with-a-fact",
    summary: "Hosts that got another kernel or another setting are later or earlier since, and the others are not.",
    applies_to: "archives with a change of the kernel, clock source, preemption mode, tick rate or governor on 11 or \
                 more hosts of a kind; the report says how many it takes",
    scope: Scope::Fleet,
    severity: Severity::Note,
    meaning: "A new image often brings a new kernel with other defaults: the tick rate, preemption, mitigations, the \
              scheduler. Waits show it before users do. Hosts that did not change show what the time itself did.",
    how_we_know: "oversleep takes the ratio of each host's median after the change to that before it. The interval is \
                  that of the median of these ratios, by the number of hosts, whatever their distribution. It must \
                  exclude 1, differ by more than 2 %, and lie apart from that of the hosts without the change over \
                  the same time. By chance alone, all of n hosts are later with a probability of 2^-n. So 11 hosts are \
                  the fewest for one change of one wait with p50 and p99, 12 for two waits, and 15 for twenty.",
    what_to_do: "Run `oversleep check` under both on one host, and `oversleep compare` the two results: it names what \
                 differs.",
    sources: &[],
    remedies: &[],
    check: Check::OfFleet,
};

/// A kind of machines from which the hypervisor takes time.
pub const STEAL: FindingEntry = FindingEntry {
    id: "OVS-F005",
    name: "hypervisor-takes-time-from-a-group",
    summary: "The hypervisor runs other machines while hosts of one kind want to run, and it doesn't do so elsewhere.",
    applies_to: "archives of the results of 10 or more virtual machines of a kind; the report says how many it takes",
    scope: Scope::Fleet,
    severity: Severity::Cost,
    meaning: "Steal is the time in which a virtual CPU could run and the hypervisor ran something else. A wait that \
              ends then is late by up to the other machine's time slice. A kind of machines that shares its CPUs has \
              it on every host.",
    how_we_know: "oversleep takes the share of stolen time of each host, as its kernel counts it (/proc/stat). The \
                  median of the kind has to be 0.5 % or more, and its interval, by hosts, has to lie above that of \
                  the other hosts. 10 hosts are the fewest for one kind, and 12 for three or four.",
    what_to_do: "Rent machines with CPUs of their own, or a larger kind. No setting inside of the machine gives the \
                 time back.",
    sources: &["https://docs.kernel.org/filesystems/proc.html"],
    remedies: &[&DEDICATED_CPUS],
    check: Check::OfFleet,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sheet;

    #[test]
    fn no_result_of_one_machine_has_a_verdict_on_a_fleet() {
        for sheet in [Sheet::linux(), Sheet::windows(), Sheet::macos()] {
            assert!(crate::findings(&sheet.file).iter().all(|finding| !finding.id.starts_with("OVS-F")));
        }
        assert!(FINDINGS.iter().all(|entry| entry.check.run(&Sheet::linux().file).is_empty()));
    }
}
