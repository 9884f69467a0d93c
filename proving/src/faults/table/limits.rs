//! Limits on what a process may use.

use super::Material;
use crate::faults::row::{Case, Expect, Row, Where};

const KIND: &str = "limits";
const SHORT: &str = "waits thread-sleep nanosleep --request 1ms --count 3 --out r.json";

/// The least memory, in steps of 500 kB, with which the program starts; it depends on the build. With less, the kernel
/// or the loader kills it before it can print a message.
const LEAST: &str = "{ least=20000; until (ulimit -v $least; exec \"$O\" --version) >/dev/null; do \
     least=$((least + 500)); done; } 2>/dev/null";

/// Takes more and more memory, up to about 100 MB.
const LARGE: &str =
    "waits clock-nanosleep --on linux-hz250 --request $(seq -s, -f %gus 1 100) --count 100000 --out r.json";

pub fn rows(material: &Material) -> Vec<Row> {
    let limited = |option: &str, values: &[u64], command: &str| -> Vec<Case> {
        let case = |value: &u64| Case::script(format!("ulimit -{option} {value}; exec \"$O\" {command}"));
        values.iter().map(case).collect()
    };
    let above_least = [500, 1_000, 2_000, 5_000, 10_000, 30_000, 70_000, 200_000]
        .map(|more| Case::script(format!("{LEAST}; ulimit -v $((least + {more})); exec \"$O\" {SHORT}")));
    let measured = || Expect::codes(&[0, 1, 4]).result(Where::IfMeasured);
    let spin = "waits spin --request 1ms --for 100s --out r.json";
    let used_up = Expect::codes(&[130]).result(Where::Named).says(&["the CPU time that this process may use"]);
    let mut cpu = limited("St", &[1, 2, 3], spin);
    cpu.extend(limited("t", &[2, 4], spin));
    let reading = |command: &str| {
        let case = |blocks: u64| Case::script(format!("ulimit -f {blocks}; exec \"$O\" {command}"));
        [1, 3].map(|blocks| case(blocks).given("old.json", material.result.clone()))
    };
    let mut size = reading("report old.json --html new.html").to_vec();
    size.extend(reading("report old.json --json=new.json"));
    size.extend(reading("compare old.json old.json --html=new.html"));
    let size_of_results =
        [0, 1].map(|blocks| Case::script(format!("ulimit -f {blocks}; \"$O\" {SHORT} >/dev/null 2>&1; test $? = 1")));
    let memory = Expect::codes(&[0, 1, 130]).result(Where::IfMeasured);
    vec![
        Row::new(KIND, "CPU time is used up while it measures (`ulimit -t`)", used_up, cpu).sampling(2),
        Row::new(
            KIND,
            "the size of files, for what is read (`ulimit -f`)",
            Expect::codes(&[1]).says(&["(ulimit -f)", "File too large"]),
            size,
        ),
        Row::new(KIND, "the size of files, for what is measured", Expect::codes(&[0]), size_of_results.to_vec()),
        Row::new(KIND, "memory (`ulimit -v`)", memory, above_least.to_vec()),
        Row::new(
            KIND,
            "memory runs out while it measures (`ulimit -v`)",
            Expect::codes(&[130]).result(Where::Named).says(&["memory runs out; ending the run"]),
            limited("v", &[80_000, 70_000, 90_000], LARGE),
        ),
        Row::new(
            KIND,
            "large stacks in little memory (`ulimit -s`, `ulimit -v`)",
            Expect::codes(&[0, 1, 4, 130]).result(Where::IfMeasured),
            [(65_536, 100_000), (8_192, 60_000), (1_000_000, 200_000)]
                .map(|(stack, all)| Case::script(format!("ulimit -s {stack}; ulimit -v {all}; exec \"$O\" {SHORT}")))
                .to_vec(),
        ),
        Row::new(KIND, "open files (`ulimit -n`)", measured(), limited("n", &[8, 5, 6, 7, 10, 12, 16, 24, 32], SHORT)),
        Row::new(
            KIND,
            "open files, for a program that is traced (`ulimit -n`)",
            Expect::codes(&[1, 125]).says(&["too few files may be open: raise that limit (ulimit -n)"]),
            ["emulate -q windows-10-1909", "why -q --by supervisor"]
                .map(|command| Case::script(format!("ulimit -n 10; exec \"$O\" {command} -- sh -c 'exit 3'")))
                .to_vec(),
        ),
        Row::new(KIND, "the stack (`ulimit -s`)", measured(), limited("s", &[1_024, 512, 65_536], SHORT)),
        Row::new(
            KIND,
            "locked memory (`ulimit -l`)",
            measured(),
            limited("l", &[0], &format!("{SHORT} --lock-memory")),
        ),
        Row::new(
            KIND,
            "pending signals (`ulimit -i`)",
            measured(),
            limited("i", &[0, 1], "waits --request 1ms --count 3 --out r.json"),
        ),
        Row::new(KIND, "core files (`ulimit -c`)", measured(), limited("c", &[0], SHORT)),
    ]
}
