//! Remedies for whoever administers the machine: they change it for everybody, so none is tried unasked.

use super::super::entry::Scope;
use super::{Harmless, RemedyEntry};

const NEEDS_ROOT: &str = "it changes the whole machine and needs root";
const OUTSIDE: &str = "it is decided outside this machine";

pub(super) const REMEDIES: &[RemedyEntry] = &[
    RemedyEntry {
        id: "permit-real-time",
        scope: Scope::LinuxKernel,
        summary: "Threads may ask for a real-time policy.",
        how: "Allow real-time priorities to the program's user: a limit, a unit setting, a capability, or a container \
              option.",
        example: Some(
            "# /etc/security/limits.conf\n@audio - rtprio 80\n# systemd unit\nLimitRTPRIO=80\n# one program\n\
             setcap cap_sys_nice+ep ./app\n# container\ndocker run --cap-add SYS_NICE --ulimit rtprio=80 …",
        ),
        harmless: Harmless::NotTriedBecause("only an administrator can allow it"),
        compare: None,
    },
    RemedyEntry {
        id: "lift-real-time-throttling",
        scope: Scope::LinuxKernel,
        summary: "Real-time threads keep their CPU for whole periods.",
        how: "Keep real-time threads below 95 % of a CPU, so that neither the limit (up to Linux 6.11, and with \
              CONFIG_RT_GROUP_SCHED) nor the fair server (from 6.12) ever acts; lift them only where every real-time \
              thread is known to sleep.",
        example: Some(
            "# up to Linux 6.11, and with CONFIG_RT_GROUP_SCHED\nsysctl -w kernel.sched_rt_runtime_us=-1\n\
             # from Linux 6.12, for CPU 3\necho 0 > /sys/kernel/debug/sched/fair_server/cpu3/runtime",
        ),
        harmless: Harmless::NotTriedBecause("without the limit a runaway real-time thread can take the machine"),
        compare: None,
    },
    RemedyEntry {
        id: "use-tsc-clocksource",
        scope: Scope::LinuxKernel,
        summary: "Clock reads are answered in user space, without a system call.",
        how: "Switch the clocksource to one with a vDSO path: tsc where the processor's TSC is invariant, kvm-clock or \
              hyperv_clocksource in a guest; find out from the boot log why the kernel did not.",
        example: Some(
            "# commands\ncat /sys/devices/system/clocksource/clocksource0/available_clocksource\n\
             echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource\n\
             dmesg | grep -i -e clocksource -e tsc",
        ),
        harmless: Harmless::NotTriedBecause(NEEDS_ROOT),
        compare: None,
    },
    RemedyEntry {
        id: "dedicated-cpus",
        scope: Scope::Anywhere,
        summary: "The hypervisor runs nothing else on this machine's CPUs.",
        how: "Choose an instance with dedicated or pinned CPUs, or move the neighbours to another host.",
        example: None,
        harmless: Harmless::NotTriedBecause(OUTSIDE),
        compare: None,
    },
    RemedyEntry {
        id: "raise-cpu-quota",
        scope: Scope::Os("linux"),
        summary: "Threads no longer stand still until the quota's next period.",
        how: "Raise or remove the CPU limit and keep the request (weight); else shorten the period, or lower the number \
              of busy threads to the quota.",
        example: Some(
            "# cgroup v2\necho \"max 100000\" > /sys/fs/cgroup/<group>/cpu.max\n# container\n\
             docker update --cpus 4 <container>",
        ),
        harmless: Harmless::NotTriedBecause("the quota is the administrator's to change"),
        compare: None,
    },
    RemedyEntry {
        id: "fewer-runnable-threads",
        scope: Scope::Anywhere,
        summary: "A woken thread finds a free CPU.",
        how: "Run no more busy threads than there are CPUs, move batch work to other machines or hours, or give it the \
              idle policy.",
        example: Some("# command\nchrt --idle 0 ./batch-job"),
        harmless: Harmless::NotTriedBecause("the other tasks are not ours to stop"),
        compare: None,
    },
    RemedyEntry {
        id: "isolate-cpus",
        scope: Scope::LinuxKernel,
        summary: "Nothing else is scheduled where the punctual thread runs.",
        how: "Keep other tasks off one CPU (a cpuset, or isolcpus= at boot) and pin the thread to it.",
        example: Some("# systemd\nsystemctl set-property --runtime system.slice AllowedCPUs=0-2\ntaskset -c 3 ./app"),
        harmless: Harmless::NotTriedBecause(NEEDS_ROOT),
        compare: None,
    },
    RemedyEntry {
        id: "performance-governor",
        scope: Scope::LinuxKernel,
        summary: "The processor is at full speed when the timer fires.",
        how: "Choose the performance governor, or at least an energy preference other than power.",
        example: Some("# command\ncpupower frequency-set --governor performance"),
        harmless: Harmless::NotTriedBecause(NEEDS_ROOT),
        compare: None,
    },
    RemedyEntry {
        id: "cooler-machine",
        scope: Scope::Anywhere,
        summary: "The processor keeps its clock rate, because it stays below its temperature limit.",
        how: "Free its air, let it idle before what matters, or put less load on it at once.",
        example: None,
        harmless: Harmless::NotTriedBecause(OUTSIDE),
        compare: None,
    },
];
