//! A part of the system that is missing or refused.

use crate::faults::row::{Case, Expect, Need, Row, Where};

const KIND: &str = "system";
/// Measures a little of everything that a process may do here.
const MEASURING: &[&str] = &[
    "waits --request 1ms --count 3 --out r.json",
    "check --quick --only A1,B5,B7,D1,D4 --count 3 --request 1ms --no-remedies --out r.json",
    "waits thread-sleep --request 1ms --count 3 --load spin:1 --slack 1ns --policy fifo:1 --lock-memory --out r.json",
];
/// Commands that read the system and measure nothing.
const READING: &[&str] = &["doctor", "doctor --json", "waits --list", "clocks --list", "resolution show"];
const MISSING: &[&str] = &["/proc", "/sys", "/dev", "/tmp", "/etc"];
/// System calls, each refused alone.
const CALLS: &[&str] = &[
    "clock_nanosleep",
    "clone3",
    "epoll_create1",
    "epoll_pwait2",
    "eventfd2",
    "fsync",
    "getrandom",
    "io_uring_setup",
    "linkat",
    "membarrier",
    "mlockall",
    "nanosleep",
    "perf_event_open",
    "pipe2",
    "ppoll",
    "prctl",
    "prlimit64",
    "pselect6",
    "recvfrom",
    "renameat2",
    "rt_sigtimedwait",
    "sched_getaffinity",
    "sched_getattr",
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_yield",
    "setitimer",
    "setsockopt",
    "socketpair",
    "statx",
    "sysinfo",
    "timer_create",
    "timerfd_create",
    "uname",
];
/// EPERM and ENOSYS, the errors of container filters.
const ERRORS: &[u32] = &[1, 38];
/// Environments that no shell creates.
const ENVIRONMENTS: &[(&str, &str)] = &[
    ("empty", "exec env -i \"$O\""),
    ("with a width of nothing", "COLUMNS=0 exec \"$O\""),
    ("with an absurd width", "COLUMNS=99999999999999999999 exec \"$O\""),
    ("with a width that is no number", "COLUMNS=x TERM= LANG=xx_YY.none exec \"$O\""),
    ("with a terminal that is unknown", "TERM=none CLICOLOR=1 exec \"$O\""),
    ("without a directory for temporary files", "TMPDIR=/no/such exec \"$O\""),
    ("that asks for details of panics", "RUST_BACKTRACE=full exec \"$O\""),
    ("large", "V=$(printf %100000s | tr ' ' x) exec \"$O\""),
];

pub fn rows() -> Vec<Row> {
    let measured = || Expect::codes(&[0, 1, 4]).result(Where::IfMeasured);
    let mut rows: Vec<Row> = MISSING
        .iter()
        .map(|part| {
            let commands = MEASURING.iter().chain(READING);
            // The program may lie in the part that is missing: it is started from a place in the working directory.
            let start = "mkdir -p at && mount --bind \"$(dirname \"$O\")\" at";
            let without = |command: &&str| {
                let inner = format!("{start} && mount -t tmpfs tmpfs {part} && exec at/oversleep {command}");
                Case::script(format!("exec unshare -m sh -c '{inner}'"))
            };
            let cases = commands.map(without).collect();
            Row::new(KIND, format!("without {part}"), measured(), cases).needing(&[Need::Mounts])
        })
        .collect();
    for call in CALLS {
        let filtered = |error: &u32| {
            let commands = [MEASURING[0], MEASURING[2], READING[0], READING[4]];
            commands
                .map(|command| Case::script(format!("exec \"$X\" faults-filter {call}:{error} -- \"$O\" {command}")))
        };
        let cases = ERRORS.iter().flat_map(filtered).collect();
        rows.push(Row::new(KIND, format!("{call} is refused"), measured(), cases).needing(&[Need::Filter]));
    }
    // A call that reports success without doing anything.
    let case = |command| Case::script(format!("exec \"$X\" faults-filter setsockopt:0 -- \"$O\" {command}"));
    let cases = ["waits so-rcvtimeo --request 1ms --count 3 --out r.json", READING[0], READING[4]].map(case).to_vec();
    rows.push(Row::new(KIND, "setsockopt does nothing", measured(), cases).needing(&[Need::Filter]));
    let together = CALLS.iter().filter(|call| !["getrandom", "prlimit64"].contains(call));
    let all: Vec<String> = together.map(|call| format!("{call}:1")).collect();
    let case = Case::script(format!("exec \"$X\" faults-filter {} -- \"$O\" {}", all.join(" "), MEASURING[0]));
    rows.push(Row::new(KIND, "all of these are refused", measured(), vec![case]).needing(&[Need::Filter]));
    for (name, start) in ENVIRONMENTS {
        let cases = vec![Case::script(format!("{start} {}", MEASURING[2])), Case::script(format!("{start} doctor"))];
        rows.push(Row::new(KIND, format!("an environment {name}"), measured(), cases));
    }
    let gone =
        Case::script(format!("mkdir d; cd d; rmdir ../d; exec \"$O\" {}", "check --only B5 --count 3 --request 1ms"));
    rows.push(Row::new(KIND, "a current directory that is gone", measured(), vec![gone]));
    rows
}
