//! A signal at a moment of a command.

use super::Material;
use crate::faults::row::{After, Case, Expect, Need, Row, Where};

const KIND: &str = "signals";
/// Runs that would take hours, each with its result in `r.json`.
const LONG: &[(&str, &str)] = &[
    ("waits", "waits nanosleep --request 1ms --for 24h --out r.json"),
    ("several waits", "waits nanosleep thread-sleep poll --request 1ms,2ms --for 12h --out r.json --html r.html"),
    ("check", "check --only B5 --request 1ms --for 24h --no-remedies --out r.json"),
    ("hand-offs", "handoff condvar --for 24h --out r.json"),
    ("under load", "waits nanosleep --request 1ms --for 24h --load spin:1 --slack 1ns --out r.json"),
];
const ENDING: &[&str] = &["INT", "TERM", "HUP"];
/// Deliveries that never complete: nothing reads the pipe.
const BLOCKED: &[(&str, &str)] = &[
    ("a named pipe without a reader", "mkfifo p; exec \"$O\" waits thread-sleep --count 3 --request 1ms --json p"),
    ("a page for a pipe without a reader", "mkfifo p; exec \"$O\" waits thread-sleep --count 3 --request 1ms --html p"),
    (
        "a full pipe as standard output",
        "mkfifo p; sleep 80 <p & exec \"$O\" check --on windows-11 --only B5 --no-remedies --json - >p",
    ),
];

pub fn rows(material: &Material) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, command) in LONG {
        let at = |&ms: &u64| ENDING.iter().map(move |signal| long(command).signal(signal, After::LineMs(ms)));
        let cases = [200, 50, 700].iter().flat_map(at).collect();
        let expect = Expect::codes(&[130]).result(Where::Named).says(&["ending the run with what was measured"]);
        rows.push(Row::new(KIND, format!("one signal while it measures: {name}"), expect, cases));
    }
    rows.extend([starting(), twice(), together(), ignored(), other_signals(), limits_of_others(), cpu_time()]);
    rows.extend(delivering());
    rows.extend(killed(material));
    rows.push(replacing(material));
    rows.push(reading(material));
    rows.extend(holding());
    rows.push(stopped());
    rows
}

/// Stopped for two seconds: the report says so, and for how long.
fn stopped() -> Row {
    let case = |command: &&str| {
        Case::script(format!(
            "\"$O\" {command} >r.txt & p=$!; sleep 3; kill -STOP $p; sleep 2; kill -CONT $p; wait $p; \
             exec grep 'stopped for' r.txt >&2"
        ))
    };
    let commands = [
        "forkjoin --for 2s",
        "waits spin --request 1ms --for 7s",
        "handoff condvar --for 7s",
        "waits nanosleep poll --request 1ms --for 7s",
        "waits nanosleep --request 1ms --for 7s --load spin:2",
        "ask 'nanosleep(1ms)' --count 6000",
    ];
    // A guard underestimates a stop by up to 25 ms. On a busy machine a process stops when it next gets a CPU, some 100 ms
    // late, and the shell sends CONT late.
    let says = &["stopped for 1.", "stopped for 2"];
    Row::new(
        KIND,
        "stopped for two seconds while it measures",
        Expect::codes(&[0]).says(says),
        commands.iter().map(case).collect(),
    )
    .sampling(2)
}

fn long(command: &str) -> Case {
    Case::script(format!("exec \"$O\" {command}"))
}

fn starting() -> Row {
    let at = |&ms: &u64| ENDING.iter().map(move |signal| long(LONG[0].1).signal(signal, After::StartMs(ms)));
    // A second signal ends the run if the first came before the process could handle any.
    let again = |case: Case| case.signal("TERM", After::StartMs(8_000));
    let cases = [3, 0, 1, 2, 5, 8, 13, 21, 34, 55, 89].iter().flat_map(at).map(again).collect();
    Row::new(KIND, "one signal while it starts", Expect::codes(&[130]).or_killed(), cases).sampling(2)
}

fn twice() -> Row {
    let command = "exec \"$O\" waits thread-sleep --request 60s --for 24h --out r.json";
    let case =
        |first, second| Case::script(command).signal("INT", After::LineMs(first)).signal("INT", After::LineMs(second));
    let cases = vec![case(400, 800), case(1_000, 600), case(300, 3_000)];
    let expect = Expect::codes(&[130]).says(&["quitting at once", "ending the run"]);
    Row::new(KIND, "a second signal after half a second, in a wait that can't be interrupted", expect, cases)
}

fn together() -> Row {
    let mut cases = Vec::new();
    for signal in ENDING {
        // coreutils' timeout sends its signal to the process and to its group.
        for seconds in ["3", "3.1", "3.2", "3.3"] {
            cases.push(Case::script(format!(
                "timeout -s {signal} {seconds} \"$O\" {}; test $? = 124 && exit 130",
                LONG[0].1
            )));
        }
        let burst = long(LONG[0].1).signal(signal, After::LineMs(200));
        cases.push((0..6).fold(burst, |case, _| case.signal("TERM", After::LineMs(20))));
    }
    let expect = Expect::codes(&[130]).result(Where::Named);
    Row::new(KIND, "several signals within half a second (`timeout`)", expect, cases).sampling(3)
}

fn ignored() -> Row {
    let script = "trap '' HUP INT TERM; exec \"$O\" waits nanosleep --request 10ms --for 2s --out r.json";
    let case = |signal| Case::script(script).signal(signal, After::StartMs(1_000));
    let expect = Expect::codes(&[0]).result(Where::Named);
    Row::new(
        KIND,
        "a signal that was ignored from the start (`nohup`)",
        expect,
        ENDING.iter().map(|s| case(s)).collect(),
    )
}

fn other_signals() -> Row {
    let case = |signal| long(LONG[0].1).signal(signal, After::LineMs(300));
    let cases = ["QUIT", "USR1", "ALRM", "KILL", "USR2", "ABRT"].map(case).to_vec();
    Row::new(KIND, "a signal that means an end at once", Expect::codes(&[]).or_killed(), cases)
}

fn limits_of_others() -> Row {
    let stopped = long(LONG[0].1).signal("STOP", After::LineMs(200)).signal("CONT", After::LineMs(1_000));
    let cases = vec![stopped.signal("TERM", After::LineMs(200)), {
        let pipe = long(LONG[0].1).signal("PIPE", After::LineMs(100)).signal("WINCH", After::LineMs(50));
        pipe.signal("CHLD", After::LineMs(50)).signal("URG", After::LineMs(50)).signal("INT", After::LineMs(50))
    }];
    let expect = Expect::codes(&[130]).result(Where::Named);
    Row::new(KIND, "signals that end nothing, then one that does", expect, cases)
}

/// Batch systems send it independently of the process's limit.
fn cpu_time() -> Row {
    let commands = LONG.iter().map(|(_, command)| long(command).signal("XCPU", After::LineMs(300)));
    let expect = Expect::codes(&[130]).result(Where::Named).says(&["the CPU time that this process may use"]);
    Row::new(KIND, "SIGXCPU while it measures", expect, commands.collect())
}

fn delivering() -> Vec<Row> {
    let row = |(name, script): &(&str, &str)| {
        // On a slow machine the first may arrive during the measurement, and ends that.
        let case =
            |signal| Case::script(*script).signal(signal, After::StartMs(3_000)).signal("TERM", After::StartMs(9_000));
        let expect = Expect::codes(&[130]).result(Where::Temporary).says(&["the result is kept in"]);
        Row::new(
            KIND,
            format!("a signal while it delivers to {name}"),
            expect,
            ENDING.iter().map(|s| case(s)).collect(),
        )
    };
    BLOCKED.iter().map(row).collect()
}

/// Killed at a system call: `strace` kills the process when it enters the call.
fn killed(material: &Material) -> Vec<Row> {
    let at = |command: &str, call: &str, when: usize, given: &[&str]| {
        let filter = format!("-e trace={call} -e inject={call}:signal=KILL:when={when}");
        let case = Case::script(format!("exec strace -f -qq -o /dev/null {filter} \"$O\" {command}"));
        given.iter().fold(case, |case, name| case.given(name, material.result.clone()))
    };
    let measure = "waits thread-sleep --count 3 --request 1ms --out new.json --html new.html";
    let report = "report old.json --json=new.json --html new.html --svg pictures";
    let automatic = "check --only B5 --request 1ms --count 3 --no-remedies";
    let row = |name: &str, command: &str, given: &[&str]| {
        let mut cases = Vec::new();
        for when in 1..=3 {
            cases.extend(["fsync", "linkat", "write"].iter().map(|call| at(command, call, when, given)));
        }
        // A run with fewer such calls ends as usual.
        let expect = Expect::codes(&[0, 4, 137]).or_killed();
        Row::new(KIND, format!("killed while it writes: {name}"), expect, cases).needing(&[Need::Strace]).sampling(2)
    };
    vec![
        row("a measurement", measure, &[]),
        row("a report", report, &["old.json"]),
        row("files that nobody named", automatic, &[]),
    ]
}

/// Killed between the two steps of replacing a file, which leaves a hidden file; a later run removes it.
fn replacing(material: &Material) -> Row {
    let filter = "-e trace=rename,renameat,renameat2 -e inject=rename,renameat,renameat2:signal=KILL:when=1";
    let script = format!(
        "cp old.json r.json; strace -f -qq -o /dev/null {filter} \"$O\" report old.json --json=r.json; \
         cmp old.json r.json || exit 9; ls .oversleep-*.part >&2 || exit 9; touch -d '2 minutes ago' .oversleep-*.part; \
         exec \"$O\" report old.json --json=r.json"
    );
    let expect = Expect::codes(&[0]).result(Where::Named);
    let case = Case::script(script).given("old.json", material.result.clone());
    Row::new(KIND, "killed while it replaces a file, and run again later", expect, vec![case]).needing(&[Need::Strace])
}

fn reading(material: &Material) -> Row {
    let script = "exec \"$O\" report r0.json --html new.html --json=new.json --svg pictures";
    let mut cases = Vec::new();
    for ms in [30, 5, 10, 15, 20, 40, 60, 80, 120, 160, 200] {
        for signal in ["TERM", "INT", "KILL"] {
            let case = Case::script(script).given("r0.json", material.result.clone());
            cases.push(case.signal(signal, After::StartMs(ms)));
        }
    }
    Row::new(KIND, "a signal while a report is written", Expect::codes(&[0, 130]).or_killed(), cases).sampling(3)
}

fn holding() -> Vec<Row> {
    let hold = Case::script("exec \"$O\" resolution hold 1ms");
    let cases = ENDING.iter().map(|signal| hold.clone().signal(signal, After::LineMs(500))).collect();
    let passed = "exec \"$O\" resolution hold 1ms --quiet -- \
         sh -c 'trap \"exit 3\" TERM; echo ready >&2; sleep 30 & wait; exit 1'";
    vec![
        Row::new(KIND, "a signal while a setting is held", Expect::codes(&[0]), cases),
        Row::new(
            KIND,
            "a signal while a program runs goes to the program",
            Expect::codes(&[3]),
            vec![Case::script(passed).signal("TERM", After::LineMs(300))],
        ),
    ]
}
