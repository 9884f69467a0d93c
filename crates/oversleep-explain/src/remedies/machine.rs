//! Remedies for the administrator of a machine. They affect all its users, so none of them is tried.

use oversleep_record::Os;

use super::{NEEDS_ROOT, OUTSIDE};
use crate::entry::{RemedyEntry, Scope, Trial};
use crate::read::is_linux_kernel;

/// Results of a Linux kernel.
const LINUX_KERNEL: Scope = Scope::OsWhere(Os::Linux, is_linux_kernel);

pub(crate) static PERMIT_REAL_TIME: RemedyEntry = RemedyEntry {
    id: "permit-real-time",
    scope: LINUX_KERNEL,
    summary: "Threads may request a real-time policy.",
    how: "Allow the program's user real-time priorities: with a limit, a setting of its unit, a capability, or a container \
          option.",
    example: Some(
        "# /etc/security/limits.conf\n@audio - rtprio 80\n# systemd unit\nLimitRTPRIO=80\n# one program\n\
         setcap cap_sys_nice+ep ./app\n# container\ndocker run --cap-add SYS_NICE --ulimit rtprio=80 …",
    ),
    trial: Trial::Never("only an administrator can allow it"),
};

pub(crate) static LIFT_REAL_TIME_THROTTLING: RemedyEntry = RemedyEntry {
    id: "lift-real-time-throttling",
    scope: LINUX_KERNEL,
    summary: "Real-time threads keep their CPU.",
    how: "Keep real-time threads below 95 % of a CPU, so that neither the limit (up to Linux 6.11, and later with \
          CONFIG_RT_GROUP_SCHED) nor the fair server (from 6.12) ever acts. Lift them only if you know that every \
          real-time thread sleeps.",
    example: Some(
        "# up to Linux 6.11, and with CONFIG_RT_GROUP_SCHED\nsysctl -w kernel.sched_rt_runtime_us=-1\n\
         # from Linux 6.12, for CPU 3\necho 0 > /sys/kernel/debug/sched/fair_server/cpu3/runtime",
    ),
    trial: Trial::Never("without the limit, a runaway real-time thread can take the machine"),
};

pub(crate) static USE_TSC_CLOCKSOURCE: RemedyEntry = RemedyEntry {
    id: "use-tsc-clocksource",
    scope: LINUX_KERNEL,
    summary: "Clock reads are answered in user space, without a system call.",
    how: "Switch to a clocksource with a vDSO path: tsc if the processor's TSC is invariant, kvm-clock or \
          hyperv_clocksource in a guest. The boot log says why the kernel did not choose it.",
    example: Some(
        "# commands\ncat /sys/devices/system/clocksource/clocksource0/available_clocksource\n\
         echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource\n\
         dmesg | grep -i -e clocksource -e tsc",
    ),
    trial: Trial::Never(NEEDS_ROOT),
};

pub(crate) static USE_HIGH_RESOLUTION_TIMERS: RemedyEntry = RemedyEntry {
    id: "use-high-resolution-timers",
    scope: LINUX_KERNEL,
    summary: "Waits end at their deadline instead of at the next tick.",
    how: "Boot without highres=off, and with a clocksource that high-resolution timers can be based on (not jiffies).",
    example: Some(
        "# commands\ngrep -o 'highres=[^ ]*' /proc/cmdline\ndmesg | grep -i -e 'high resolution' -e clocksource",
    ),
    trial: Trial::Never("only a new start of the machine changes it"),
};

pub(crate) static DEDICATED_CPUS: RemedyEntry = RemedyEntry {
    id: "dedicated-cpus",
    scope: Scope::Anywhere,
    summary: "The hypervisor runs nothing else on this machine's CPUs.",
    how: "Choose an instance with dedicated or pinned CPUs, or move the other guests to another host.",
    example: None,
    trial: Trial::Never(OUTSIDE),
};

pub(crate) static RAISE_CPU_QUOTA: RemedyEntry = RemedyEntry {
    id: "raise-cpu-quota",
    scope: Scope::Os(Os::Linux),
    summary: "Threads are no longer throttled until the quota's next period.",
    how: "Raise or remove the CPU limit and keep the request (weight). Otherwise shorten the period, or run no more \
          busy threads than the number of CPUs that the quota is worth.",
    example: Some(
        "# cgroup v2\necho \"max 100000\" > /sys/fs/cgroup/<group>/cpu.max\n# container\n\
         docker update --cpus 4 <container>",
    ),
    trial: Trial::Never("only an administrator can change the quota"),
};

pub(crate) static FEWER_RUNNABLE_THREADS: RemedyEntry = RemedyEntry {
    id: "fewer-runnable-threads",
    scope: Scope::Anywhere,
    summary: "A woken thread finds a free CPU.",
    how: "Run no more busy threads than there are CPUs. Move batch work to other machines or hours, or give it the idle \
          policy.",
    example: Some("# command\nchrt --idle 0 ./batch-job"),
    trial: Trial::Never("the other tasks belong to other programs"),
};

pub(crate) static ISOLATE_CPUS: RemedyEntry = RemedyEntry {
    id: "isolate-cpus",
    scope: LINUX_KERNEL,
    summary: "Nothing else is scheduled on the CPU of the thread that must be on time.",
    how: "Keep other tasks off one CPU (with a cpuset, or isolcpus= at boot) and pin the thread to it.",
    example: Some("# systemd\nsystemctl set-property --runtime system.slice AllowedCPUs=0-2\ntaskset -c 3 ./app"),
    trial: Trial::Never(NEEDS_ROOT),
};

pub(crate) static PERFORMANCE_GOVERNOR: RemedyEntry = RemedyEntry {
    id: "performance-governor",
    scope: LINUX_KERNEL,
    summary: "The processor runs at full speed when the timer fires.",
    how: "Choose the performance governor, or at least an energy preference other than power.",
    example: Some("# command\ncpupower frequency-set --governor performance"),
    trial: Trial::Never(NEEDS_ROOT),
};

pub(crate) static COOLER_MACHINE: RemedyEntry = RemedyEntry {
    id: "cooler-machine",
    scope: Scope::Anywhere,
    summary: "The processor stays below its temperature limit and keeps its clock rate.",
    how: "Clear the machine's vents and fans, let it idle before work that matters, or run less at once.",
    example: None,
    trial: Trial::Never(OUTSIDE),
};
