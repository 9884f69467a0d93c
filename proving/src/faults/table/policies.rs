//! Scheduling policies, users and privileges under which a process is started.

use crate::faults::row::{Case, Expect, Need, Row, Where};

const KIND: &str = "policies";
const MEASURING: &[&str] = &[
    "waits thread-sleep nanosleep --request 1ms --count 3 --out r.json",
    "waits thread-sleep --request 1ms --count 3 --policy fifo:1 --slack 1ns --dma-latency 0 --lock-memory --out r.json",
    "clocks --quick --out r.json",
];
/// The name, the required command, and how a program is started with it.
const STARTED: &[(&str, &str, &str)] = &[
    ("the idle policy", "chrt", "chrt -i 0"),
    ("the batch policy", "chrt", "chrt -b 0"),
    ("a real-time policy", "chrt", "chrt -f 1"),
    ("a real-time policy in turn", "chrt", "chrt -r 1"),
    ("the lowest nice value", "nice", "nice -n 19"),
    ("one CPU", "taskset", "taskset -c 0"),
    ("another user", "setpriv", "setpriv --reuid=65534 --regid=65534 --clear-groups"),
    ("no new privileges", "setpriv", "setpriv --no-new-privs"),
    ("no capabilities", "setpriv", "setpriv --bounding-set=-all --inh-caps=-all --no-new-privs"),
    ("a user namespace", "unshare", "unshare -U"),
    ("a process namespace", "unshare", "unshare -fp"),
    ("a network namespace", "unshare", "unshare -n"),
    ("no terminal and a session of its own", "setsid", "setsid -w"),
];

pub fn rows() -> Vec<Row> {
    let row = |(name, needed, start): &(&str, &'static str, &str)| {
        // A refusal of the starter isn't a fault of the started program. Another user writes to a world-writable directory.
        let case = |command: &&str| {
            Case::script(format!(
                "chmod 777 . \"$TMPDIR\"; {start} true 2>/dev/null || exit 0; exec {start} \"$O\" {command}"
            ))
        };
        let expect = Expect::codes(&[0, 1, 4]).result(Where::Unneeded);
        Row::new(KIND, format!("started with {name}"), expect, MEASURING.iter().map(case).collect())
            .needing(&[Need::Command(needed)])
    };
    STARTED.iter().map(row).collect()
}
