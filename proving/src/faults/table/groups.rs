//! Limits of control groups, and clocks that are changed.

use crate::faults::row::{Case, Expect, Need, Row, Where};

const KIND: &str = "groups";
const WAITS: &str = "waits clock-nanosleep --request 1ms --for 2s --out r.json";
/// Takes about 100 MB.
const LARGE: &str =
    "waits clock-nanosleep --on linux-hz250 --request $(seq -s, -f %gus 1 100) --count 100000 --out r.json";
const FAKETIME: &str = "L=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1 /usr/lib/faketime/libfaketimeMT.so.1 2>/dev/null | \
     head -n 1); export LD_PRELOAD=$L FAKETIME_NO_CACHE=1 FAKETIME_TIMESTAMP_FILE=$PWD/t; ";

/// Runs the command in its own control group, of version 1 or 2; `limit` writes into `$G`, `meanwhile` runs concurrently.
fn grouped(controller: &str, limit: &str, command: &str, meanwhile: &str) -> Case {
    Case::script(format!(
        "R=/sys/fs/cgroup; test -d $R/{controller} && R=$R/{controller}; G=$R/oversleep-faults-$$; export G; mkdir $G; {limit}; \
         sh -c 'echo $$ >${{H:-$G}}/cgroup.procs; exec \"$O\" {command}' & p=$!; {meanwhile} wait $p; c=$?; \
         test -n \"$H\" && rmdir $H; rmdir $G; exit $c"
    ))
}

/// Writes a limit in the form of version 1 or 2.
fn limited(group: &str, one: &[(&str, &str)], two: (&str, &str)) -> String {
    let write = |(file, value): &(&str, &str)| format!("echo {value} >${group}/{file}");
    let one: Vec<String> = one.iter().map(write).collect();
    format!("if test -e ${group}/{}; then {}; else {}; fi", two.0, write(&two), one.join("; "))
}

fn cpu(group: &str, percent: u32) -> String {
    let quota = format!("{}", percent * 1_000);
    limited(
        group,
        &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", &quota)],
        ("cpu.max", &format!("\"{quota} 100000\"")),
    )
}

pub fn rows() -> Vec<Row> {
    let measured = || Expect::codes(&[0, 4]).result(Where::Named);
    let memory =
        |bytes: u32| limited("G", &[("memory.limit_in_bytes", &bytes.to_string())], ("memory.max", &bytes.to_string()));
    let tasks = |count: u32| format!("echo {count} >$G/pids.max");
    let nested = format!("{}; H=$G/inner; export H; mkdir $H; {}", cpu("G", 20), cpu("H", 20));
    let freezing = "sleep 1; if test -e $G/cgroup.freeze; then echo 1 >$G/cgroup.freeze; sleep 1; echo 0 >$G/cgroup.freeze; \
         else echo FROZEN >$G/freezer.state; sleep 1; echo THAWED >$G/freezer.state; fi;";
    let moved = |change: &str| {
        Case::script(format!(
            "echo +0 >t; {FAKETIME}\"$O\" {WAITS} & p=$!; unset LD_PRELOAD; sleep 1; echo '{change}' >t; wait $p"
        ))
    };
    vec![
        Row::new(
            KIND,
            "little memory in a control group",
            measured(),
            vec![grouped("memory", &memory(24 << 20), WAITS, "")],
        )
        .needing(&[Need::Group("memory")]),
        Row::new(
            KIND,
            "the memory of a control group runs out: the kernel ends the process, which can keep nothing",
            Expect::codes(&[137]),
            vec![grouped("memory", &memory(24 << 20), LARGE, "")],
        )
        .needing(&[Need::Group("memory")]),
        Row::new(
            KIND,
            "a CPU quota",
            measured(),
            [20, 5].map(|part| grouped("cpu", &cpu("G", part), WAITS, "")).to_vec(),
        )
        .needing(&[Need::Group("cpu")]),
        Row::new(KIND, "a CPU quota within another", measured(), vec![grouped("cpu", &nested, WAITS, "")])
            .needing(&[Need::Group("cpu")]),
        Row::new(
            KIND,
            "few tasks in a control group",
            Expect::codes(&[0, 1, 4]).result(Where::IfMeasured),
            [2, 1, 3, 4, 6].map(|count| grouped("pids", &tasks(count), WAITS, "")).to_vec(),
        )
        .needing(&[Need::Group("pids")]),
        Row::new(
            KIND,
            "frozen for a second (`docker pause`)",
            measured(),
            vec![grouped("freezer", "true", WAITS, freezing)],
        )
        .needing(&[Need::Group("freezer")]),
        Row::new(
            KIND,
            "the clock is moved during a wait (`faketime`)",
            Expect::codes(&[0, 1, 4]).result(Where::IfMeasured),
            ["+3600", "-3600", "+2d", "+0 x10"].map(moved).to_vec(),
        )
        .needing(&[Need::Command("faketime")]),
    ]
}
