//! Names of facts about the machine: one table with each fact's name, its title, and its meaning for timing.

use std::fmt;

/// Declares every fact once.
macro_rules! facts {
    ($($variant:ident $name:literal, $title:literal, $doc:literal;)*) => {
        /// The name of a fact. A file may contain facts of a later version; their names have no variant here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FactName {
            $(#[doc = $doc] $variant,)*
        }

        impl FactName {
            /// Every fact, by name.
            pub const ALL: &[FactName] = &[$(FactName::$variant),*];

            /// The name in files: `timer.slack_ns`. The last word is the unit, if there is one.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(FactName::$variant => $name,)*
                }
            }

            /// The title for people: `timer slack`.
            pub const fn title(self) -> &'static str {
                match self {
                    $(FactName::$variant => $title,)*
                }
            }

            /// Its meaning for timing.
            pub const fn doc(self) -> &'static str {
                match self {
                    $(FactName::$variant => $doc,)*
                }
            }
        }
    };
}

facts! {
    CgroupCpuPeriod "cgroup.cpu_period_ns", "CPU quota period",
        "Length of the period that the CPU quota counts over: the longest stop it can cause.";
    CgroupCpuQuotaCpus "cgroup.cpu_quota_cpus", "CPU quota",
        "CPU time this process may use, in CPUs. A group that has used it up stands still until the next period.";
    CgroupCpuWeight "cgroup.cpu_weight", "CPU weight",
        "Share of its control group beside others that want the same CPU; 100 is usual. Little of it makes waits late.";
    CgroupVersion "cgroup.version", "control group version",
        "Version of the control groups that hold the CPU controller.";
    ClocksourceAvailable "clocksource.available", "clock sources available",
        "Counters that the kernel trusts enough to offer.";
    ClocksourceCurrent "clocksource.current", "clock source",
        "The counter that the kernel's clocks are made of.";
    ClocksourceVdso "clocksource.vdso", "clock reads without a system call",
        "Whether `clock_gettime(CLOCK_MONOTONIC)` is answered without a system call, by observation.";
    ContainerKind "container.kind", "container",
        "The kind of container this process runs in, or none. It may limit CPU time and privileges.";
    CpuAllowed "cpu.allowed", "CPUs allowed",
        "CPUs that this process may use; on Windows, those its threads may use without leaving their group.";
    CpuCount "cpu.count", "CPUs",
        "CPUs that are online.";
    CpuKinds "cpu.kinds", "CPU classes",
        "Classes of the CPUs. The thrifty ones wake up and run slower.";
    CpuModel "cpu.model", "processor",
        "The processor's name as sold, or its core designs on ARM. A hypervisor may show a generic one.";
    CpuSmt "cpu.smt", "hyper-threading",
        "Whether CPUs share cores: a busy sibling slows its neighbour.";
    CpuTscDeadline "cpu.tsc.deadline", "TSC deadline timer",
        "Whether the local timer can be armed with a value of the time-stamp counter, which is cheap and exact.";
    CpuTscHz "cpu.tsc.hz", "TSC frequency",
        "Ticks of the time-stamp counter per second, as the processor, the hypervisor or the kernel states it.";
    CpuTscInvariant "cpu.tsc.invariant", "invariant TSC",
        "Whether the time-stamp counter runs at one rate in every power state. Otherwise it is not a valid clock.";
    CpuTscKernelUnstable "cpu.tsc.kernel_unstable", "TSC dropped by the kernel",
        "Whether the kernel does not offer the time-stamp counter as a clock source although the processor has one.";
    CpuTscPresent "cpu.tsc.present", "TSC",
        "Whether the processor has a time-stamp counter.";
    CpuVendor "cpu.vendor", "processor vendor",
        "Who designed the processor.";
    CpufreqBoost "cpufreq.boost", "frequency boost",
        "Whether CPUs may run above their nominal rate for a while.";
    CpufreqDriver "cpufreq.driver", "frequency driver",
        "What sets the clock rate. It is missing where the hypervisor does.";
    CpufreqGovernor "cpufreq.governor", "frequency governor",
        "How the clock rate is chosen. A power-saving governor lets woken threads start slowly.";
    CpufreqMaxHz "cpufreq.max_hz", "highest clock rate",
        "The highest clock rate that any of the CPUs may reach; on Windows the rated one.";
    CpufreqReading "cpufreq.reading", "clock rate reading",
        "Where the clock rate beside each series comes from. `cpuinfo_avg_freq` is what the hardware counted. \
         `scaling_cur_freq` is that on x86, and what the driver last requested elsewhere. `CurrentMhz` is the \
         share of the rated clock that Windows chose.";
    CpuidleDeepestExitLatency "cpuidle.deepest_exit_latency_ns", "deepest idle exit latency",
        "The longest time it takes to leave an enabled idle state.";
    CpuidleDriver "cpuidle.driver", "idle driver",
        "What puts idle CPUs to sleep, or none where the hypervisor does.";
    CpuidleGovernor "cpuidle.governor", "idle governor",
        "What chooses how deep idle CPUs sleep.";
    CpuidleStates "cpuidle.states", "idle states",
        "Idle states of one CPU, with the time it takes to leave each.";
    KernelBootParameters "kernel.boot_parameters", "boot parameters",
        "Boot parameters that bear on timing; others are not recorded.";
    KernelIsolatedCpus "kernel.isolated_cpus", "isolated CPUs",
        "CPUs kept free of ordinary tasks (`isolcpus=`).";
    KernelNohzFullCpus "kernel.nohz_full_cpus", "tickless CPUs",
        "CPUs without a periodic tick while one task runs (`nohz_full=`).";
    KernelPreemption "kernel.preemption", "preemption",
        "When the kernel lets a woken thread interrupt it: none, voluntary, full, lazy or rt.";
    KernelRelease "kernel.release", "kernel",
        "Release of the kernel. Rules of timing change between releases.";
    LibcName "libc.name", "C library",
        "The C library this program was built with.";
    LibcVersion "libc.version", "C library version",
        "Version of the C library at run time.";
    LimitsMemlockBytes "limits.memlock_bytes", "lockable memory",
        "Memory this process may lock without privileges, in bytes; −1 is unlimited.";
    LimitsRtprio "limits.rtprio", "real-time priority limit",
        "Highest real-time priority allowed without privileges; −1 is unlimited.";
    LoadAverage1min "load.average_1min", "load average",
        "Runnable tasks over the minute before the run; on Linux blocked ones too.";
    ModelName "model.name", "model",
        "The profile of the modelled machine.";
    ModelSeed "model.seed", "model seed",
        "The seed of the modelled machine's random numbers.";
    ModelSet "model.set", "model changes",
        "What was changed of the profile, in the order it was changed.";
    OsBuild "os.build", "build",
        "Build number of Windows. From 19041 on a timer request counts only for the process that made it.";
    OsIsServer "os.is_server", "server edition",
        "Whether this is a server edition of Windows, whose threads get longer time slices.";
    OsName "os.name", "system",
        "The system with its version as sold.";
    OsWineVersion "os.wine_version", "Wine",
        "Version of Wine, where it emulates Windows.";
    OversleepClock "oversleep.clock", "library clock",
        "The clock that the oversleep library chose, and why it did not choose each faster one.";
    PerfParanoid "perf.paranoid", "perf_event_paranoid",
        "How far perf events are closed to ordinary users. Up to 2, a thread may see its own switches.";
    PerfSwitchTimes "perf.switch_times", "switch-in times",
        "Whether threads can learn when they got their CPU, which splits lateness into its parts.";
    PowerLowPowerMode "power.low_power_mode", "low power mode",
        "Whether the user chose longer battery life over speed, which slows cores and coalesces timers.";
    PowerOnBattery "power.on_battery", "on battery",
        "Whether the machine runs on its battery, where it trades wake-up time for power.";
    PowerPlan "power.plan", "power plan",
        "The power plan: one of Windows' own, or custom.";
    PowerSource "power.source", "power source",
        "Mains or battery. Machines on battery trade wake-up time for power.";
    PressureCpu "pressure.cpu", "CPU pressure",
        "Whether the kernel records how long tasks wait for a CPU (PSI).";
    QpcFrequencyHz "qpc.frequency_hz", "performance counter frequency",
        "Ticks of the performance counter per second.";
    QpcLikelySource "qpc.likely_source", "performance counter source",
        "The hardware behind the performance counter, by its frequency. A read costs tens of ns with `tsc` or \
         `generic-timer` and a µs with `hpet` or `acpi-pm`. A guest has its hypervisor's reference counter, which \
         may cost either.";
    RuntimesFound "runtimes.found", "language runtimes",
        "Language runtimes whose waits and clocks were measured.";
    RuntimesMissing "runtimes.missing", "language runtimes not found",
        "Language runtimes that there are probes for, and that are not here.";
    SchedNice "sched.nice", "nice",
        "Nice value of the thread. On Linux, above 0 `poll` and `select` get five times the slack.";
    SchedPolicy "sched.policy", "scheduling policy",
        "Scheduling policy of the thread as found.";
    SchedPriorityClass "sched.priority_class", "priority class",
        "Priority class of the process as found: the base of its threads' priorities.";
    SchedPrioritySeparation "sched.priority_separation", "priority separation",
        "How long time slices are and how much longer in the foreground, as the bits of Win32PrioritySeparation.";
    SchedQosClass "sched.qos_class", "service class",
        "Service class of the thread as found. It decides priority, coalescing and the kind of core.";
    SchedRtPeriodUs "sched.rt_period_us", "real-time period",
        "The period that the limit on real-time threads counts over. Threads that used it up stop for the rest, \
         where it binds them.";
    SchedRtPermitted "sched.rt_permitted", "real-time permitted",
        "Whether this process may put its threads under a real-time policy.";
    SchedRtRuntimeUs "sched.rt_runtime_us", "real-time limit",
        "CPU time that real-time threads may use per period; −1 is unlimited. Since Linux 6.12 it binds them \
         only where the kernel groups real-time threads (CONFIG_RT_GROUP_SCHED). Elsewhere the fair server \
         (`/sys/kernel/debug/sched/fair_server`) keeps a share for ordinary threads that wait.";
    StealVisible "steal.visible", "steal time visible",
        "Whether the hypervisor tells how much time it gave to others. Where it doesn't, that time looks like \
         slowness of this machine.";
    ThermalPressure "thermal.pressure", "thermal pressure",
        "How much heat pressed on the machine as the run began. From heavy on the system slows down.";
    ThermalSensor "thermal.sensor", "temperature sensor",
        "The sensor behind the temperature beside each series.";
    ThermalThrottleCounters "thermal.throttle_counters", "throttle counters",
        "How many counters tell of cores and packages that slowed down for heat. Intel's have them.";
    TimerCoalescing "timer.coalescing", "timer coalescing",
        "Whether the kernel ends waits late on purpose, to serve several timers at once.";
    TimerCoarseStep "timer.coarse_step_ns", "coarse clock step",
        "Step that the kernel states for CLOCK_MONOTONIC_COARSE.";
    TimerDefaultSlack "timer.default_slack_ns", "default timer slack",
        "Timer slack that a thread falls back to: its creator's, 50 µs where nobody changed it.";
    TimerGlobalRequests "timer.global_requests", "machine-wide timer requests",
        "Whether timer resolution requests are set to count for the whole machine, as before Windows 10 2004.";
    TimerHighResolution "timer.high_resolution", "high-resolution timers",
        "Whether timers end between ticks. On Linux every wait ends at a tick without it; on Windows it is about \
         waitable timers.";
    TimerHz "timer.hz", "tick rate",
        "Ticks per second (CONFIG_HZ): the step of coarse clocks and of the scheduler's own timers.";
    TimerIncrement "timer.increment_ns", "time of day increment",
        "Period at which Windows advances its time of day and its tick count.";
    TimerLatencyTier "timer.latency_tier", "latency tier",
        "The latency tier of the thread as found. Unspecified leaves it to the service class.";
    TimerPeriodDefault "timer.period_default_ns", "default timer resolution",
        "Longest period of the timer interrupt, in effect while no process requests a shorter one.";
    TimerPeriodMin "timer.period_min_ns", "finest timer resolution",
        "Shortest period of the timer interrupt that can be requested.";
    TimerPeriodNow "timer.period_now_ns", "timer resolution",
        "Period of the timer interrupt as found, shorter than the default where some process requests it.";
    TimerRealTimeSlack "timer.real_time_slack_ns", "timer slack of real-time threads",
        "Timer slack that the kernel states for a thread under a real-time policy: 0 since Linux 6.12. Before, sleeps had \
         none all the same, and timed waits on locks kept it.";
    TimerRequestsPerProcess "timer.requests_per_process", "timer requests per process",
        "Whether a timer resolution request counts only for the process that made it (build 19041 and later, \
         unless set otherwise).";
    TimerSlack "timer.slack_ns", "timer slack",
        "Timer slack of the thread as found: how much later than requested a timed wait may end on purpose.";
    TimerTiers "timer.tiers", "latency tiers",
        "How late waits may end on purpose in each latency tier. `none` is a thread outside the service classes.";
    TimerTimebase "timer.timebase", "timebase",
        "Nanoseconds per unit of `mach_absolute_time`, as a fraction. Programs that take units for ns are off by it.";
    TimerTimebaseHz "timer.timebase_hz", "timebase frequency",
        "Units of `mach_absolute_time` per second: the finest step of every clock and timer.";
    TimerWindowHidden "timer.window_hidden", "window hidden",
        "Whether the process owns a window that can't be seen, so that its timer resolution requests don't count.";
    VdsoPresent "vdso.present", "vDSO",
        "Whether the kernel gave this process code to read clocks with.";
    VirtualisationHypervisor "virtualisation.hypervisor", "hypervisor",
        "The hypervisor under this machine, or none. It adds its own delays to timers and wake-ups. Windows with \
         Hyper-V or core isolation runs beside its guests and is not a guest itself.";
    VirtualisationRosetta "virtualisation.rosetta", "Rosetta",
        "Whether this program is translated from x86-64. Its clock reads and waits cost more for it.";
    VirtualisationWsl "virtualisation.wsl", "WSL",
        "Whether this is the Windows Subsystem for Linux, and which: 1 translates calls, 2 is a virtual machine.";
}

impl FactName {
    /// The fact with this name in files; `None` for one that this version doesn't know.
    pub fn find(name: &str) -> Option<FactName> {
        FactName::ALL.binary_search_by(|known| known.as_str().cmp(name)).ok().map(|at| FactName::ALL[at])
    }
}

impl fmt::Display for FactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl AsRef<str> for FactName {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<FactName> for String {
    fn from(name: FactName) -> String {
        name.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_listed_in_order_and_found_by_its_name() {
        for pair in FactName::ALL.windows(2) {
            assert!(pair[0].as_str() < pair[1].as_str(), "{} stands before {}", pair[0], pair[1]);
        }
        for name in FactName::ALL {
            assert_eq!(FactName::find(name.as_str()), Some(*name));
        }
        assert_eq!([FactName::find("timer.slack"), FactName::find("")], [None, None]);
    }

    #[test]
    fn every_fact_has_a_title_of_its_own_and_says_what_it_means() {
        for (at, name) in FactName::ALL.iter().enumerate() {
            let title = name.title();
            assert!(!title.is_empty() && !title.ends_with('.'), "{name}");
            assert!(FactName::ALL[..at].iter().all(|other| other.title() != title), "{title} is two facts");
            assert!(name.doc().ends_with('.') && name.doc().len() > 12, "{name}");
        }
    }

    #[test]
    fn names_are_dotted_and_end_in_their_unit() {
        for name in FactName::ALL {
            let is_written = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.';
            assert!(name.as_str().contains('.') && name.as_str().chars().all(is_written), "{name}");
        }
        assert_eq!(format!("{:>16}", FactName::TimerSlack), "  timer.slack_ns");
    }
}
