//! What `why` says of programs of which it is known what is wrong: each was recorded for a second or two on a KVM guest with
//! two vCPUs and Linux 6.18. The file is named after what is wrong.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::support::Home;

/// What the verdict says, by the recording.
const CASES: &[(&str, &[&str])] = &[
    ("work", &["c10_loop: its own work takes up to", "meant to take 10 ms", "56 expirations of the timer are missed"]),
    (
        "drift",
        &["c9_frame_int waits for what is left of each period, counted from the present time in whole milliseconds"],
    ),
    ("lock", &["loop: sleeping in other calls (futex: a lock or a condition, until other wakes it) takes 5."]),
    // A thread that waits for an answer, or for work, is not held up.
    ("answer", &["Nothing delays it by much", "10 ms requested, 5.19 ms asleep in other calls"]),
    ("late-page", &["loop: page faults (81 in all) take 5.16 ms of each period"]),
    ("quota", &["service: the CPU quota of /ovq takes up to", "Raise or remove the quota of /ovq"]),
    (
        "container-quota",
        &[
            "a CPU quota, that of docker container 3f2a9c0d12ab. The loop",
            "raise or remove the quota of docker container 3f2a9c0d12ab (30 ms of each 100 ms)",
            "docker update --cpu-quota -1 3f2a9c0d12ab",
        ],
    ),
    (
        "other-session",
        &[
            "player: waiting for a CPU (behind encode) takes 4 ms of each period",
            "keep encode away from the CPUs of this program",
            "whose nice value counts only within its own session (autogroup)",
        ],
    ),
    // The threads of Go's scheduler are no loops, and those of them that have nothing to do hold nothing up.
    ("go-work", &["ticker: its own work takes up to 30 ms", "Go moves what runs between threads"]),
    ("rust-lock", &["t09 (ticker): sleeping in other calls (futex: a lock or a condition, until holder wakes it)"]),
    ("java-monitor", &["java: sleeping in other calls (futex: a lock or a condition, until holder wakes it)"]),
    ("asyncio", &["python3: sleeping in other calls (clock_nanosleep)", "leave the sleep out"]),
    ("node-work", &["node: its own work takes up to 40.1 ms of a period"]),
    (
        "python-rest",
        &["python3 waits for what is left of each period, counted from the present time in whole milliseconds"],
    ),
    // It loses a millisecond now and then, and makes up for nothing.
    (
        "node-span",
        &["longer than the span that it requests: 10 ms requested in whole milliseconds, 4.13 ms of its own work"],
    ),
    // Its spans end on a grid, whatever its work takes.
    ("rust-grid", &["The loop of ticker is meant to come 50.0 times per second and comes 49.0 times"]),
    (
        "ruby-interpreter",
        &["ruby (compute.rb:1): sleeping in other calls (futex: the interpreter's lock, which another thread has)"],
    ),
    (
        "perl-fsync",
        &[
            "perl: sleeping in other calls (fsync: a disk or a file system) takes 4.26 ms",
            "let another thread make the calls that wait for the disk",
        ],
    ),
    ("rust-faults", &["11.9 ms of its own work (with about 6,270 page faults)"]),
    (
        "cpp-one-cpu",
        &[
            "is waiting for a CPU, most of it behind its own threads",
            "let the program use more CPUs: its threads share one",
        ],
    ),
    // A stop ends a call of Node's, so it comes between its waits.
    ("node-stopped", &["node: being stopped takes up to 71.3 ms of a period"]),
    (
        "own-timer-cuts",
        &[
            "perl: pselect6 for 50 ms: all 91 waits are cut off before their time by SIGALRM of its own timer (setitimer)",
        ],
    ),
    ("ruby-nice", &["because of its own nice 10"]),
    ("rust-slack", &["99 % of its lateness is timer slack"]),
    ("real-time-hog", &["98 % of its lateness is waiting for a CPU, behind perl", "keep perl away from that one"]),
    ("stopped", &["stops, because of job control (SIGSTOP or a terminal)"]),
    ("neighbour", &["loop: waiting for a CPU (behind compile) takes 4.94 ms of each period", "keep compile away"]),
    ("idle-policy", &["because of its own SCHED_IDLE"]),
    ("nice", &["because of its own nice 19"]),
    ("sampler", &["interruptions by signals, because of SIGUSR1 from sampler"]),
    ("own-timer", &["interruptions by signals, because of SIGALRM of its own timer (setitimer)"]),
    ("frozen", &["stops, because of the freezer"]),
    ("wall-clock", &["Nothing delays"]),
    (
        "interpreter",
        &[
            "python3: sleeping in other calls (futex: the interpreter's lock, which another thread has)",
            "sys.setswitchinterval",
        ],
    ),
    (
        "java",
        &[
            "java (order-ticker): sleeping in other calls (futex: a lock or a condition, until report-writer wakes it)",
            "see what report-writer does",
        ],
    ),
];

#[test]
fn recorded_programs_get_the_answer_that_is_known_to_be_right() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let home = Home::new();
    for (name, says) in CASES {
        let recording = folder.join(format!("{name}.why"));
        let shown = home.run(["why".as_ref(), recording.as_os_str()]).fine().stdout;
        let verdict =
            shown.split("\nVerdict\n").nth(1).and_then(|rest| rest.split("\nAll waits\n").next()).unwrap_or_default();
        let verdict = verdict.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in *says {
            assert!(verdict.to_lowercase().contains(&words.to_lowercase()), "{name}: {words}\n{verdict}");
        }
    }
    let kept: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().replace(".why", ""))
        .collect();
    assert!(kept.iter().all(|name| CASES.iter().any(|(case, _)| case == name)), "each is requested: {kept:?}");
}
