//! The machines on which `why` follows programs: its kernel program must load, split waits without a gap, and show the time
//! that the injector burns in the right part. Time is exact there, and so is the difference between two runs with the
//! injector.

use super::guest::Guest;
use super::machine::{Expectation, Machine, expect};
use super::pins::{LINUX_5_10, LINUX_6_1, LINUX_6_1_ARM, LINUX_6_1_RT, LINUX_6_12, LINUX_6_12_RT, LINUX_7_2};

/// Follows a shell whose children wait for 1 ms.
macro_rules! why {
    ($($further:literal),*) => {
        concat!(
            "timeout -s KILL 60 oversleep why --out /tmp/why.json -- ",
            "sh -c 'for n in $(seq 60); do usleep 1000; done' >why 2>why.err; echo \"why: $?\"\n",
            $($further),*
        )
    };
}

/// The same, then all stages of the injector.
macro_rules! inject {
    ($rounds:literal) => {
        why!("truth --rounds ", $rounds, " --exact inject >truth; echo \"truth: $?\"")
    };
}

const ENDS: Expectation = expect("`why` ends well", |guest| guest.logged("why: 0"));
const SPLIT: Expectation = expect("waits of 1 ms are split, and timer slack is named", split);
const WHOLE: Expectation = expect("nothing is left without a name", |guest| guest.lacks("why", "unattributed"));
const INJECTED: Expectation = expect("200 µs burnt at each of seven stages show in its part, to 1 µs", injected);

fn split(guest: &Guest) -> Result<(), String> {
    guest.prints("why", "nanosleep").and_then(|()| guest.prints("why", "timer slack"))
}

fn injected(guest: &Guest) -> Result<(), String> {
    let text = guest.text("truth");
    let stages: Vec<&str> = text.lines().filter(|line| line.contains("inject ")).collect();
    let wrong: Vec<&str> = stages.iter().filter(|line| !line.starts_with("ok ")).copied().collect();
    if stages.len() == 7 && wrong.is_empty() { Ok(()) } else { Err(format!("truth says {text:?}")) }
}

/// A machine with two CPUs, on which entries are based.
const PLAIN: Machine = Machine {
    name: "why",
    is: "`why` follows a program",
    kernel: &LINUX_6_12,
    cpus: 2,
    boot: "",
    script: inject!("1"),
    is_sampled: true,
    expects: &[ENDS, SPLIT, WHOLE, INJECTED],
};

pub static MACHINES: &[Machine] = &[
    PLAIN,
    Machine {
        name: "why-5.10",
        kernel: &LINUX_5_10,
        cpus: 1,
        // The injector needs bpf_loop, which exists since 5.17.
        script: why!(),
        is_sampled: false,
        expects: &[ENDS, SPLIT, WHOLE],
        ..PLAIN
    },
    Machine { name: "why-6.1", kernel: &LINUX_6_1, cpus: 1, is_sampled: false, ..PLAIN },
    Machine { name: "why-6.1-rt", kernel: &LINUX_6_1_RT, cpus: 1, is_sampled: false, ..PLAIN },
    Machine { name: "why-6.12-rt", kernel: &LINUX_6_12_RT, is_sampled: false, ..PLAIN },
    Machine { name: "why-7.2", kernel: &LINUX_7_2, is_sampled: false, ..PLAIN },
    Machine { name: "why-arm64", kernel: &LINUX_6_1_ARM, is_sampled: false, ..PLAIN },
    Machine {
        name: "why-nobody",
        is: "`why` without privileges, with `perf_event_paranoid` 4",
        cpus: 1,
        script: "echo 4 >/proc/sys/kernel/perf_event_paranoid\n\
                 su nobody -c 'oversleep why --out /tmp/why.json -- true' >why 2>&1; echo \"why: $?\"\n\
                 ls /proc/*/fdinfo/* 2>/dev/null | xargs grep -l prog_id 2>/dev/null | wc -l >left",
        is_sampled: false,
        expects: &[
            expect("what grants the kernel's events is named", |guest| {
                guest.prints("why", "setcap cap_bpf,cap_perfmon")
            }),
            expect("a supervisor follows the program", |guest| guest.prints("why", "A supervisor saw these waits")),
            expect("nothing stays loaded", |guest| guest.prints("left", "0")),
        ],
        ..PLAIN
    },
    Machine {
        name: "why-lockdown",
        is: "`why` on a kernel that is locked down",
        cpus: 1,
        boot: "lockdown=confidentiality",
        script: "mount -t securityfs securityfs /sys/kernel/security\n\
                 oversleep why --out /tmp/why.json -- true >why 2>&1; echo \"why: $?\"",
        is_sampled: false,
        expects: &[expect("it says that the kernel is locked down", |guest| guest.prints("why", "locked down"))],
        ..PLAIN
    },
];
