//! `run`: the settings of a program that is run with one.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::support::{Ended, Home};

#[test]
fn a_program_inherits_what_is_held_and_its_code_is_passed_on() {
    let home = Home::new();
    let script = "cat /proc/self/timerslack_ns; exit 7";
    let ended = home.run(["run", "--slack", "2ns", "--", "sh", "-c", script]).with_code(7);
    assert_eq!(ended.stdout, "2\n");
    assert!(ended.stderr.contains("slack is held at 2 ns"), "{}", ended.stderr);
    let quiet = home.run(["run", "--nice", "5", "--quiet", "--", "nice"]).fine();
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("5\n", ""));
}

/// The notes of both runs and of each setting; a comparison is printed nevertheless.
#[test]
fn two_runs_that_are_compared_can_be_quiet() {
    let home = Home::new();
    let measured = ["run", "--slack", "1ns", "--measure", "--", "sleep", "0.01"];
    let loud = home.run(measured);
    if loud.code != Some(0) {
        return oversleep_testing::skip(loud.stderr);
    }
    assert!(loud.stderr.contains("the first run is without the settings\n"), "{}", loud.stderr);
    let quiet = home.run(["run", "--quiet"].iter().chain(&measured[1..])).fine();
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.contains("oversleep compare"), "{}", quiet.stdout);
}

/// The program goes on until its file is gone, as `why` leaves it.
#[test]
fn an_interrupted_first_run_is_the_last() {
    let home = Home::new();
    std::fs::write(home.path().join("go"), "").expect("writable");
    let script = "echo ran >> runs; echo ready; exec >/dev/null 2>&1; while [ -e go ]; do sleep 0.05; done";
    let mut command = home.command();
    command.args(["run", "--slack", "1ns", "--measure", "--", "sh", "-c", script]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut ready = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut ready).expect("readable");
    if ready != "ready\n" {
        return oversleep_testing::skip(Ended::of(child.wait_with_output().expect("it ends")).stderr);
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().is_ok_and(|sent| sent.success()));
    let ended = Ended::of(child.wait_with_output().expect("it ends"));
    std::fs::remove_file(home.path().join("go")).expect("it is there");
    let ended = ended.with_code(130);
    assert!(ended.stderr.contains("the first run was interrupted") && !ended.stderr.contains("is held"), "{ended:?}");
    assert_eq!(std::fs::read_to_string(home.path().join("runs")).expect("written"), "ran\n");
}

#[test]
fn nothing_to_hold_and_no_program_are_usage_errors() {
    let home = Home::new();
    home.run(["run", "--", "true"]).with_code(2);
    home.run(["run", "--slack", "1ns"]).with_code(2);
    home.run(["run", "--nice", "20", "--", "true"]).with_code(2);
}

#[test]
fn a_program_that_can_not_be_run_has_the_codes_of_shells() {
    let home = Home::new();
    for (program, code) in [("no-such-program-anywhere", 127), ("/", 126)] {
        let ended = home.run(["run", "--slack", "1ns", "--", program]).with_code(code);
        assert!(ended.stderr.contains(&format!("error: can't run '{program}'")), "{}", ended.stderr);
        home.run(["run", "--lock-memory", "--", program]).with_code(code);
    }
    home.run(["run", "--slack", "1ns", "--measure", "--", "no-such-program-anywhere"]).with_code(127);
}

#[test]
fn a_program_inherits_its_time_slice_or_hears_why_not() {
    let home = Home::new();
    let ended = home.run(["run", "--slice", "200us", "--", "true"]).fine();
    let is_held = ended.stderr.contains("slice is held at 200 µs");
    assert!(is_held || ended.stderr.contains("slice 200 µs is not held: "), "{}", ended.stderr);
    let refused = home.run(["run", "--slice", "1us", "--", "true"]).with_code(2);
    assert!(
        refused.stderr.contains("can't use --slice 1 µs: "),
        "the option is the one that was typed: {}",
        refused.stderr
    );
}

#[test]
#[cfg(target_arch = "x86_64")]
fn each_program_that_is_executed_has_its_memory_locked() {
    let home = Home::new();
    // The shell executes another program, and its children inherit no lock.
    let script = "grep VmLck /proc/self/status; exit 7";
    let ended = home.run(["run", "--lock-memory", "--", "sh", "-c", script]);
    let locked = ended.stdout.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0);
    if ["not held", "can't trace", "ulimit -l unlimited"].iter().any(|why| ended.stderr.contains(why)) {
        return oversleep_testing::skip(ended.stderr);
    }
    assert!(locked > 500, "{} {}", ended.stdout, ended.stderr);
    ended.with_code(7);
}
