//! `emulate`: what a program must not notice except in its waits. The times themselves are tested as functions; here no
//! wait ends early, and none has an upper bound.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use super::support::Home;

const MACHINE: &str = "windows-10-1909";

/// Runs the command with another machine's timing; `None` if tracing is forbidden.
#[track_caller]
pub fn emulated(home: &Home, options: &[&str], program: &[&str]) -> Option<Output> {
    let output = command(home, options, program).output().expect("it starts");
    allowed(program[0], output)
}

/// `None` if it is forbidden here to trace that program. Of what it starts itself, this says nothing.
#[track_caller]
pub fn allowed(program: &str, output: Output) -> Option<Output> {
    let told = String::from_utf8_lossy(&output.stderr);
    if told.contains(&format!("can't trace '{program}'")) {
        oversleep_testing::skip(told);
        return None;
    }
    Some(output)
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
        (&["no-such-program-anywhere"], 127),
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
        &["emulate", "windows-10-1909", "true", "-x"],
    ] {
        let ended = home.run(arguments).with_code(125);
        assert!(ended.stderr.starts_with("error: ") && ended.stderr.lines().count() == 1, "{}", ended.stderr);
    }
}

#[test]
fn options_that_make_no_sense_are_failures_of_its_own() {
    let home = Home::new();
    for arguments in [
        &["emulate", MACHINE, "--resolution", "5x", "--", "true"][..],
        &["--color", "never", "emulate", MACHINE, "--clocks", "none", "--", "true"],
        &["emulate", MACHINE, "--adapters", "maybe", "--", "true"],
        &["emulate", MACHINE, "--no-such-option\u{7}", "--", "true"],
        &["emulate", "ctl", "one", "--release"],
    ] {
        let ended = home.run(arguments).with_code(125);
        assert!(ended.stderr.starts_with("error: ") && !ended.stderr.contains('\u{7}'), "{}", ended.stderr);
    }
    let program = home.run(["emulate", MACHINE, "true", "-x"]).with_code(125).stderr;
    assert_eq!(program, format!("error: put the program after --: oversleep emulate {MACHINE} -- true -x\n"));
    let program = home.run(["emulate", "--like", "r.json", "true"]).with_code(125).stderr;
    assert_eq!(program, "error: put the program after --: oversleep emulate --like r.json -- true\n");
    home.run(["emulate", "--help"]).with_code(0);
    home.run(["run", "--no-such-option"]).with_code(2);
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
fn the_report_says_how_long_each_wait_took() {
    let home = Home::new();
    let begun = Instant::now();
    let Some(output) = emulated(&home, &["--out", "r.json", "--summary"], &["sh", "-c", "sleep 0.001; sleep 0.020"])
    else {
        return;
    };
    assert!(output.status.success(), "{output:?}");
    let elapsed = begun.elapsed().as_nanos();
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(home.path().join("r.json")).expect("a file")).expect("JSON");
    let waits = report["waits"].as_array().expect("waits");
    assert_eq!(waits.iter().map(|waits| waits["count"].as_u64().unwrap_or(0)).sum::<u64>(), 2, "{report}");
    // None ends before its time, and both took place while the command ran. A busy machine makes them longer.
    let [shortest, longest] = ["min_ns", "max_ns"].map(|name| waits[0]["emulated"][name].as_u64().expect("a length"));
    assert!(shortest >= 1_000_000 && longest >= 20_000_000, "{report}");
    assert!(u128::from(shortest + longest) <= elapsed, "{elapsed}: {report}");
    let summary = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(summary.contains("emulated windows-10-1909") && summary.contains("as sleep: count 2"), "{summary}");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_program_runs() {
    let home = Home::new();
    let Some(_) = emulated(&home, &[], &["true"]) else { return };
    let Some(output) = emulated(&home, &["--out", "none/r.json"], &["echo", "ran"]) else { return };
    assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("can't write 'none/r.json': its directory does not exist"), "{told}");
}

#[test]
fn a_report_that_cannot_be_written_is_kept_and_the_command_fails() {
    let home = Home::new();
    if !std::path::Path::new("/dev/full").exists() {
        return oversleep_testing::skip("no /dev/full here");
    }
    let Some(output) = emulated(&home, &["--out", "/dev/full", "--quiet"], &["sleep", "0.001"]) else { return };
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let begins = "error: can't write '/dev/full': ";
    assert!(told.starts_with(begins) && told.contains("; the result is kept in "), "{told}");
    let path = told.trim().rsplit("kept in ").next().expect("a path");
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON");
    assert_eq!(report["machine"], MACHINE);
    let Some(output) = emulated(&home, &["--out", "r.json"], &["true"]) else { return };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "Written: r.json\n");
    let Some(output) = emulated(&home, &["--out", "r.json", "-q"], &["true"]) else { return };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn nobody_is_left_when_it_is_killed() {
    let home = Home::new();
    let Some(_) = emulated(&home, &[], &["true"]) else { return };
    let marker = home.path().join("running");
    let script = format!("echo $$ > {}; sleep 86400", marker.display());
    let mut child = command(&home, &[], &["sh", "-c", &script]).spawn().expect("it starts");
    let program = loop {
        match std::fs::read_to_string(&marker) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => assert!(child.try_wait().expect("it is ours").is_none(), "the program was never started"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    let is_there = || {
        let status = std::fs::read_to_string(format!("/proc/{program}/stat"));
        status.is_ok_and(|status| !status.contains(") Z "))
    };
    // Left alone, it would be there for a day.
    while is_there() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The first lines of C programs that make many calls: the current time of a clock in µs, and a time some µs ahead.
pub const TIMES: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(int id) { struct timespec t; clock_gettime(id, &t); return t.tv_sec * 1000000LL + t.tv_nsec / 1000; }
static struct timespec at(int id, long long us) {
    long long end = now(id) + us;
    struct timespec t = { end / 1000000, end % 1000000 * 1000 };
    return t;
}
"#;

/// A program in C, compiled here; `None` if there is no compiler.
#[track_caller]
pub fn compiled(home: &Home, source: &str, options: &[&str]) -> Option<String> {
    let (from, to) = (home.path().join("program.c"), home.path().join("program"));
    std::fs::write(&from, source).expect("a file");
    let compile = || {
        let built = Command::new("cc").args(options).arg("-o").arg(&to).arg(&from).output();
        built.map(|built| (built.status.success(), String::from_utf8_lossy(&built.stderr).into_owned()))
    };
    match compile() {
        Ok((true, _)) => Some(to.display().to_string()),
        failed => {
            // For some options, a system lacks libraries.
            std::fs::write(&from, "int main(void) { return 0; }").expect("a file");
            assert!(!compile().is_ok_and(|(is_fine, _)| is_fine), "{failed:?}");
            oversleep_testing::skip(format!("no C compiler that takes {options:?}"));
            None
        }
    }
}

/// Reads a clock for 60 ms by another clock, at least 1,000 times: its values, its steps back, its shortest step forward,
/// its resolution, and how long that took.
const CLOCKS: &str = r#"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static long long ns(int id) { struct timespec t; clock_gettime(id, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
int main(int count, char **typed) {
    int id = atoi(typed[1]), values = 1, back = 0;
    struct timespec step;
    clock_getres(id, &step);
    long long begun = ns(CLOCK_MONOTONIC), last = ns(id), took = 0, shortest = LLONG_MAX;
    for (int reads = 0; reads < 1000 || took < 60000000; reads++) {
        long long now = ns(id);
        values += now != last;
        back += now < last;
        if (now > last && now - last < shortest) shortest = now - last;
        last = now;
        took = ns(CLOCK_MONOTONIC) - begun;
    }
    printf("%d %d %lld %ld %lld\n", values, back, shortest, (long)step.tv_nsec, took);
}
"#;

#[test]
fn clocks_go_in_the_machines_steps() {
    let home = Home::new();
    for options in [&[][..], &["-static"]] {
        let Some(program) = compiled(&home, CLOCKS, options) else { continue };
        let numbers = |options: &[&str], id: &str| -> Option<Vec<i64>> {
            let output = emulated(&home, options, &[&program, id])?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Some(text.split_whitespace().filter_map(|word| word.parse().ok()).collect())
        };
        for (options, id, step) in [
            (&[][..], "6", 15_625_000),
            (&["--clocks", "all"], "0", 15_625_000),
            (&["--clocks", "all", "--resolution", "1ms"], "0", 1_000_000),
            (&["--clocks", "boottime=get-tick-count-64"], "7", 15_625_000),
        ] {
            let Some(read) = numbers(options, id) else { return };
            let [values, back, shortest, resolution, took] = read[..] else { panic!("{options:?}: {read:?}") };
            assert!((step * 9 / 10..=step).contains(&resolution), "{options:?}: {read:?}");
            // The value at the beginning, and one of each tick since: a tick more than there are whole ones.
            assert!(values <= took / resolution + 2 && back == 0, "{options:?}: {read:?}");
            assert!(shortest >= step * 9 / 10, "{options:?}: {read:?}");
        }
        // Of 1,000 reads, two lie next to each other on any machine.
        for (options, id) in [(&["--clocks", "off"][..], "0"), (&[], "1")] {
            let Some(read) = numbers(options, id) else { return };
            assert!(read[2] < 1_000_000 && read[1] == 0, "an exact clock stays exact: {options:?} {read:?}");
        }
    }
}

#[test]
fn what_can_be_emulated_can_be_asked() {
    let home = Home::new();
    for (machine, range) in [("linux-hz100", 1.05e6..1.2e6), ("linux-no-highres", 4e6..8.2e6)] {
        let answer = home.run(["ask", "nanosleep(1ms)", "--on", machine, "--json"]).fine();
        let answer: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
        assert_eq!(answer[0]["machine"], machine);
        assert!(range.contains(&answer[0]["p50_ns"].as_f64().expect("a median")), "{answer}");
    }
}

#[test]
fn clocks_that_there_are_not_are_refused() {
    let home = Home::new();
    for (choice, says) in [
        ("nonsense", "is no clock of Linux"),
        ("time.monotonic=get-tick-count-64", "is a clock of CPython"),
        ("monotonic=nonsense", "has no clock 'nonsense'"),
    ] {
        let output = command(&home, &["--clocks", choice], &["true"]).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains(says) && !output.status.success(), "{choice}: {stderr}");
    }
}

/// A frame loop as in games: the rest of a frame is slept away, in whole milliseconds. Prints how many whole frames it
/// sleeps in a second; one that is held up before its sleep doesn't count.
const LOOP: &str = r#"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static long long ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
int main(int count, char **typed) {
    long long frame = 1000000000LL / atoi(typed[1]), begun = ns();
    int frames = 0;
    while (frames < 60) {
        long long start = ns();
        long long left = (frame - (ns() - start)) / 1000000;
        struct timespec rest = { 0, left * 1000000 };
        nanosleep(&rest, 0);
        frames += left == frame / 1000000;
    }
    printf("%.3f\n", frames * 1e9 / (ns() - begun));
}
"#;

#[test]
fn a_loop_of_144_frames_a_second_becomes_one_of_64() {
    let home = Home::new();
    let Some(program) = compiled(&home, LOOP, &[]) else { return };
    let rate = &|options: &[&str], frames: &str| -> Option<f64> {
        let output = emulated(&home, options, &[&program, frames])?;
        Some(String::from_utf8_lossy(&output.stdout).trim().parse().expect("a rate"))
    };
    let raised = ["--resolution", "1ms", "--out", "raised.json"];
    let rates = std::thread::scope(|scope| {
        let runs = [(&[][..], "144"), (&[], "60"), (&raised, "144")];
        runs.map(|(options, frames)| scope.spawn(move || rate(options, frames))).map(|run| run.join().expect("a rate"))
    });
    let [Some(fast), Some(slow), Some(_)] = rates else { return };
    // The first of 60 frames begins within a tick. A busy machine makes frames longer, never shorter.
    assert!(fast <= 64.0 * 60.0 / 59.0, "144 a second: {fast}");
    assert!(slow <= 64.0 * 60.0 / 119.0, "60 a second: {slow}");
    // At 1 ms, each of 6 ms ends within two ticks, as the supervisor plans it.
    let report = std::fs::read(home.path().join("raised.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
    let longest = report["waits"][0]["emulated"]["max_ns"].as_i64().expect("a length");
    assert!((6_000_000..=8_000_000).contains(&longest), "{report}");
}
