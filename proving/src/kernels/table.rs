//! The machines: their configurations, and the expected reports. A further machine needs only an entry here.

use oversleep_record::environment::FactValue;
use oversleep_record::{FactName, Nanos};

use super::machine::{Expectation, Machine, expect};
use super::pins::{LINUX_5_10, LINUX_6_1, LINUX_6_1_ARM, LINUX_6_1_RT, LINUX_6_12, LINUX_6_12_RT, LINUX_7_2};

/// A short check whose result is `check.json`. It is killed after two minutes of the guest's time.
macro_rules! check {
    ($($further:literal),*) => {
        concat!("timeout -s KILL 120 oversleep check --quick --quiet --out check.json >report; echo \"check: $?\"\n", $($further),*)
    };
}

/// The same in a control group with that quota.
macro_rules! check_in_group {
    ($quota:literal) => {
        concat!(
            "cd /sys/fs/cgroup; echo +cpu >cgroup.subtree_control; mkdir q; echo ",
            $quota,
            " >q/cpu.max\n",
            "echo $$ >q/cgroup.procs; cd /tmp/out\n",
            check!()
        )
    };
}

/// The same while something happens to the machine, three seconds later.
macro_rules! check_while {
    ($happens:literal) => {
        concat!("(sleep 3; ", $happens, ") &\n", check!("wait"))
    };
}

const ENDS: Expectation = expect("`check` ends well", |guest| guest.logged("check: 0"));
const NO_FAULT: Expectation = expect("nothing is called a fault", |guest| guest.faults_only(&[]));
const SLACK: Expectation = expect("timer slack makes sleeps 50 µs late", |guest| {
    guest.found("OVS-L001", &["makes every sleep here 50 µs late"])
});
const NO_PRESSURE: Expectation = expect("no other work is said to want the CPU", |guest| guest.absent("OVS-L014"));

/// A machine with one CPU and the ordinary kernel, on which entries are based.
const PLAIN: Machine = Machine {
    name: "plain-6.1",
    is: "an ordinary machine",
    kernel: &LINUX_6_1,
    cpus: 1,
    boot: "",
    script: check!(),
    is_sampled: true,
    expects: &[],
};

pub static MACHINES: &[Machine] = &[
    Machine {
        script: check!("oversleep doctor >doctor"),
        expects: &[
            ENDS,
            SLACK,
            NO_FAULT,
            expect("`--quick` suffices for the main findings of a slow machine", |guest| {
                guest
                    .found("OVS-L005", &["timerfd", "ignore"])
                    .and_then(|()| guest.found("OVS-L018", &["in the run queue"]))
            }),
            expect("a clock read needs no system call", |guest| guest.absent("OVS-L009")),
            expect("real-time threads are throttled as up to 6.11", |guest| {
                guest.found("OVS-L008", &["950 ms of every 1 s"])
            }),
        ],
        ..PLAIN
    },
    Machine {
        name: "hpet",
        is: "the clock is an HPET",
        boot: "clocksource=hpet",
        expects: &[
            ENDS,
            NO_FAULT,
            expect("each clock read is a system call, and why", |guest| guest.found("OVS-L009", &["'hpet'"])),
            expect("no clock of the same cost is recommended", |guest| guest.absent("OVS-G009")),
        ],
        ..PLAIN
    },
    Machine {
        name: "acpi_pm",
        is: "the clock is the PM timer",
        boot: "clocksource=acpi_pm",
        expects: &[
            ENDS,
            NO_FAULT,
            expect("each clock read is a system call, and why", |guest| guest.found("OVS-L009", &["'acpi_pm'"])),
            expect("no clock of the same cost is recommended", |guest| guest.absent("OVS-G009")),
        ],
        ..PLAIN
    },
    Machine {
        name: "jiffies",
        is: "no clock but the tick",
        boot: "clocksource=jiffies tsc=unstable hpet=disable",
        script: check!("oversleep waits nanosleep --request 1ms --count 50 >waits; echo \"waits: $?\""),
        expects: &[
            ENDS,
            expect("`waits` ends well", |guest| guest.logged("waits: 0")),
            expect("each clock read is a system call, and why", |guest| guest.found("OVS-L009", &["'jiffies'"])),
            expect("only the counter that the kernel dropped is a fault", |guest| guest.faults_only(&["OVS-L010"])),
            expect("no other work is said to want the CPU", |guest| guest.not_found("OVS-L017")),
            expect("no read is said to cost nothing", |guest| guest.lacks("waits", " 0 ns per read")),
            expect("no read is said to need no system call", |guest| guest.lacks("waits", "no system call")),
        ],
        ..PLAIN
    },
    Machine {
        name: "no-highres",
        is: "timers end on the tick",
        boot: "highres=off",
        script: "timeout -s KILL 120 oversleep check --quiet --out check.json >report; echo \"check: $?\"\n\
                 oversleep waits nanosleep --request 1ms --count 50 --out waits.json >waits; echo \"waits: $?\"",
        expects: &[
            ENDS,
            expect("sleeps of different lengths end at the same tick", |guest| {
                guest.found("OVS-G006", &["follows the tick"])
            }),
            expect("`waits` says why a sleep of 1 ms takes a tick more", |guest| {
                guest.found_in("waits.json", "OVS-L020", &["high-resolution timers are off", "4 ms"])
            }),
            expect("the coarse clock is coarse, the others are fine", |guest| {
                guest.found("OVS-G002", &["monotonic-coarse moves in steps of 4 ms"])
            }),
            expect("the clocks agree to better than a tick", |guest| {
                guest.clocks_agree_within(Nanos::from_micros(100))
            }),
        ],
        ..PLAIN
    },
    Machine {
        name: "tsc-unstable",
        is: "the kernel dropped the counter",
        boot: "tsc=unstable",
        expects: &[
            ENDS,
            expect("the counter was dropped, which is no fault of a hypervisor", |guest| {
                guest.found("OVS-L010", &["the kernel", "dropped it"])
            }),
            expect("the fact says so", |guest| guest.fact(FactName::CpuTscKernelUnstable, &FactValue::Flag(true))),
            expect("nothing else is called a fault", |guest| guest.faults_only(&["OVS-L010"])),
        ],
        ..PLAIN
    },
    Machine {
        name: "rt",
        is: "PREEMPT_RT",
        kernel: &LINUX_6_1_RT,
        is_sampled: false,
        expects: &[
            ENDS,
            SLACK,
            NO_FAULT,
            NO_PRESSURE,
            expect("the kernel is a real-time one", |guest| {
                guest.fact(FactName::KernelPreemption, &FactValue::Text("rt".to_owned()))
            }),
        ],
        ..PLAIN
    },
    Machine {
        name: "rt-two-cpus",
        is: "PREEMPT_RT",
        kernel: &LINUX_6_12_RT,
        cpus: 2,
        is_sampled: false,
        expects: &[ENDS, SLACK, NO_FAULT, NO_PRESSURE],
        ..PLAIN
    },
    Machine {
        name: "two-cpus",
        is: "an ordinary machine",
        kernel: &LINUX_6_12,
        cpus: 2,
        expects: &[
            ENDS,
            SLACK,
            NO_FAULT,
            NO_PRESSURE,
            expect("real-time threads are limited as from 6.12", |guest| guest.found("OVS-L008", &["fair server"])),
            expect("this process may use two CPUs", |guest| guest.fact(FactName::CpuAllowed, &FactValue::Integer(2))),
        ],
        ..PLAIN
    },
    Machine {
        name: "isolated",
        is: "a CPU kept free of ordinary tasks",
        kernel: &LINUX_6_12,
        cpus: 2,
        boot: "isolcpus=1 nohz_full=1",
        script: check!(
            "oversleep waits nanosleep --request 1ms --count 40 --pin 1 --out pin.json >pin; echo \"pin: $?\"\n",
            "oversleep waits nanosleep --request 1ms --count 4 --pin 7 >pin7 2>&1; echo \"pin 7: $?\""
        ),
        expects: &[
            ENDS,
            expect("the isolated CPU is a fact", |guest| {
                guest.fact(FactName::KernelIsolatedCpus, &FactValue::List(vec!["1".to_owned()]))
            }),
            expect("`--pin 1` reaches it", |guest| guest.logged("pin: 0")),
            expect("a sleep there is late by slack and wake-up", |guest| {
                guest.median("pin.json", "B5/nanosleep/1ms", Nanos(50_000), Nanos(90_000))
            }),
            expect("`--pin 7` is refused, with the CPUs there are", |guest| guest.prints("pin7", "(0-1)")),
        ],
        ..PLAIN
    },
    Machine {
        name: "quota",
        is: "a CPU quota of a fifth",
        kernel: &LINUX_6_12,
        cpus: 2,
        script: check_in_group!("20000 100000"),
        expects: &[
            ENDS,
            expect("the quota throttled this control group", |guest| {
                guest.found("OVS-L012", &["0.2 CPUs per 100 ms", "was used up"])
            }),
            expect("the quota is a finding of its own", |guest| guest.found("OVS-L013", &["a quota of 0.2 CPUs"])),
            NO_PRESSURE,
        ],
        ..PLAIN
    },
    Machine {
        name: "nobody",
        is: "an ordinary user, and `perf_event_paranoid` 3",
        kernel: &LINUX_6_12,
        script: "su nobody -c 'oversleep doctor' >doctor; echo \"doctor: $?\"\n\
                 su nobody -c 'timeout -s KILL 120 oversleep check --quick --quiet --out check.json' >report; echo \"check: $?\"",
        expects: &[
            ENDS,
            SLACK,
            NO_FAULT,
            expect("real-time policies are refused", |guest| guest.found("OVS-L007", &["are refused here"])),
            expect("`doctor` names the setting that hides switch-in times", |guest| {
                guest.prints("doctor", "kernel.perf_event_paranoid")
            }),
        ],
        ..PLAIN
    },
    Machine {
        name: "fifo-6.1",
        is: "a thread that spins under SCHED_FIFO",
        script: "oversleep waits spin --request 1ms --for 3s --policy fifo:80 --out check.json >waits; echo \"check: $?\"",
        is_sampled: false,
        expects: &[
            ENDS,
            expect("throttling stalls it for about 50 ms", |guest| {
                guest.longest("check.json", "B5/spin/1ms", Nanos::from_millis(40), Nanos::from_millis(60))
            }),
            expect("the stall is explained", |guest| {
                guest.found("OVS-L008", &["the worst wake-up under a real-time policy"])
            }),
        ],
        ..PLAIN
    },
    Machine {
        name: "fifo-6.12",
        is: "a thread that spins under SCHED_FIFO",
        kernel: &LINUX_6_12,
        script: "oversleep waits spin --request 1ms --for 3s --policy fifo:80 --out check.json >waits; echo \"check: $?\"",
        is_sampled: false,
        expects: &[
            ENDS,
            expect("nothing stalls it, because nothing else wants the CPU", |guest| {
                guest.longest("check.json", "B5/spin/1ms", Nanos::ZERO, Nanos::from_millis(5))
            }),
        ],
        ..PLAIN
    },
    Machine {
        name: "fifo-5.10",
        is: "waits under SCHED_FIFO, before the kernel took their slack away",
        kernel: &LINUX_5_10,
        script: check!(
            "oversleep waits futex nanosleep --request 1ms --count 40 --policy fifo:80 --out fifo.json >fifo; echo \"fifo: $?\""
        ),
        is_sampled: false,
        expects: &[
            ENDS,
            SLACK,
            NO_FAULT,
            expect("`waits` says that a futex keeps its slack there", |guest| {
                guest.found_in("fifo.json", "OVS-L001", &["futex", "real-time"])
            }),
        ],
        ..PLAIN
    },
    Machine {
        name: "clock-step",
        is: "the time of day is set half a year ahead meanwhile",
        script: check_while!("date -s 2026-06-01"),
        is_sampled: false,
        expects: &[ENDS, SLACK, expect("no monotonic clock is called faulty", |guest| guest.faults_only(&[]))],
        ..PLAIN
    },
    Machine {
        name: "hotplug",
        is: "a CPU goes offline and comes back meanwhile",
        kernel: &LINUX_6_12,
        cpus: 2,
        script: check_while!(
            "echo 0 >/sys/devices/system/cpu/cpu1/online; sleep 2; echo 1 >/sys/devices/system/cpu/cpu1/online"
        ),
        is_sampled: false,
        expects: &[ENDS, SLACK],
        ..PLAIN
    },
    Machine {
        name: "newest",
        is: "an ordinary machine",
        kernel: &LINUX_7_2,
        cpus: 2,
        is_sampled: false,
        expects: &[ENDS, SLACK, NO_FAULT, NO_PRESSURE],
        ..PLAIN
    },
    Machine {
        name: "arm64",
        is: "an ordinary machine",
        kernel: &LINUX_6_1_ARM,
        cpus: 2,
        script: check!("oversleep clocks --quick --quiet --out clocks.json >clocks; echo \"clocks: $?\""),
        is_sampled: false,
        expects: &[
            ENDS,
            SLACK,
            NO_FAULT,
            expect("the machine is known for a guest", |guest| guest.found("OVS-L019", &["a guest"])),
            expect("the generic timer's count is a valid clock", |guest| guest.line("clocks", "cntvct ", " yes")),
        ],
        ..PLAIN
    },
];
