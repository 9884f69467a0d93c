//! `emulate`: what a program must not notice but for its waits. The times themselves are tested as functions; here they
//! have wide bounds, or none.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use super::support::Home;

const MACHINE: &str = "windows-10-1909";

/// The command, run with another machine's timing; nothing where nobody may trace.
fn emulated(home: &Home, options: &[&str], program: &[&str]) -> Option<Output> {
    let output = command(home, options, program).output().expect("it starts");
    let refused = String::from_utf8_lossy(&output.stderr).contains("can't trace");
    if refused {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
    }
    (!refused).then_some(output)
}

fn command(home: &Home, options: &[&str], program: &[&str]) -> Command {
    let mut command = home.command();
    command.arg("emulate").args(options).arg(MACHINE).arg("--").args(program);
    command
}

#[test]
fn it_ends_as_the_program_does() {
    let home = Home::new();
    for (program, code) in [
        (&["true"][..], 0),
        (&["false"], 1),
        (&["sh", "-c", "exit 77"], 77),
        (&["/nonexistent"], 127),
        (&["/etc/passwd"], 126),
    ] {
        let Some(output) = emulated(&home, &[], program) else { return };
        assert_eq!(output.status.code(), Some(code), "{program:?}: {output:?}");
    }
    for (name, signal) in [("SEGV", 11), ("TERM", 15), ("KILL", 9)] {
        let program = format!("kill -{name} $$");
        let Some(output) = emulated(&home, &[], &["sh", "-c", &program]) else { return };
        assert_eq!(output.status.signal(), Some(signal), "{name}: {output:?}");
    }
}

#[test]
fn its_own_failures_end_with_125() {
    let home = Home::new();
    for arguments in [
        &["emulate", "windows-10"][..],
        &["emulate", "windows-10-1909"],
        &["emulate", "windows-10", "--", "true"],
        &["emulate", "--", "true"],
        &["emulate", "linux-hz250", "--resolution", "1ms", "--", "true"],
        &["emulate", "ctl", "1", "--resolution", "1ms"],
        &["emulate", "ctl", "1"],
    ] {
        let ended = home.run(arguments).with_code(125);
        assert!(ended.stderr.starts_with("error: ") && ended.stderr.lines().count() == 1, "{}", ended.stderr);
    }
}

#[test]
fn a_program_writes_and_reads_as_it_does_alone() {
    let home = Home::new();
    let script = "echo one; echo two >&2; (sleep 0.001; echo three) & wait; echo $OVERSLEEP_EMULATE | grep -c .";
    let Some(output) = emulated(&home, &[], &["sh", "-c", script]) else { return };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one\nthree\n1\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "two\n");
}

#[test]
fn a_wait_takes_a_tick_and_the_report_says_so() {
    let home = Home::new();
    let begun = Instant::now();
    let Some(output) = emulated(&home, &["--out", "r.json", "--summary"], &["sh", "-c", "sleep 0.001; sleep 0.020"])
    else {
        return;
    };
    assert!(output.status.success(), "{output:?}");
    assert!(begun.elapsed() >= Duration::from_millis(20), "no wait ends before its time");
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(home.path().join("r.json")).expect("a file")).expect("JSON");
    let waits = report["waits"].as_array().expect("waits");
    assert_eq!(waits.iter().map(|waits| waits["count"].as_u64().unwrap_or(0)).sum::<u64>(), 2, "{report}");
    let emulated = waits[0]["emulated"]["min_ns"].as_i64().expect("a length");
    assert!((1_000_000..=15_700_000).contains(&emulated), "{report}");
    let summary = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(summary.contains("emulated windows-10-1909") && summary.contains("as sleep: count 2"), "{summary}");
}

#[test]
fn nobody_is_left_when_it_is_killed() {
    let home = Home::new();
    let Some(_) = emulated(&home, &[], &["true"]) else { return };
    let marker = home.path().join("running");
    let script = format!("echo $$ > {}; sleep 60", marker.display());
    let mut child = command(&home, &[], &["sh", "-c", &script]).spawn().expect("it starts");
    let program = loop {
        match std::fs::read_to_string(&marker) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    let is_there = || {
        let status = std::fs::read_to_string(format!("/proc/{program}/stat"));
        status.is_ok_and(|status| !status.contains(") Z "))
    };
    let begun = Instant::now();
    while is_there() {
        assert!(begun.elapsed() < Duration::from_secs(20), "the program runs on");
        std::thread::sleep(Duration::from_millis(5));
    }
}
