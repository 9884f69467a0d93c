//! `emulate`: programs and calls for 32 bits, which can't have another machine's timing.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::{Command, Output};

use serde_json::Value;

use super::emulate::{compiled, emulated};
use super::support::Home;

/// Writes a program that sleeps for 2 ms and exits with 5; `None` if this kernel runs no 32-bit programs.
#[track_caller]
fn program(home: &Home) -> Option<String> {
    const AT: u32 = 0x0804_8000;
    const HEADERS: u32 = 52 + 32;
    const CODE: &[u8] = &[
        0x68, 0x80, 0x84, 0x1e, 0x00, // push 2000000
        0x6a, 0x00, // push 0
        0x89, 0xe3, // mov ebx, esp
        0x31, 0xc9, // xor ecx, ecx
        0xb8, 162, 0, 0, 0, // mov eax, 162
        0xcd, 0x80, // int 0x80
        0xbb, 5, 0, 0, 0, // mov ebx, 5
        0xb8, 1, 0, 0, 0, // mov eax, 1
        0xcd, 0x80, // int 0x80
    ];
    let mut file = b"\x7fELF\x01\x01\x01".to_vec();
    file.resize(16, 0);
    // An executable for the i386: its only segment follows at once.
    file.extend([2_u16, 3].into_iter().flat_map(u16::to_le_bytes));
    file.extend([1, AT + HEADERS, 52, 0, 0].into_iter().flat_map(u32::to_le_bytes));
    file.extend([52_u16, 32, 1, 40, 0, 0].into_iter().flat_map(u16::to_le_bytes));
    let size = HEADERS + CODE.len() as u32;
    file.extend([1, 0, AT, AT, size, size, 5, 0x1000].into_iter().flat_map(u32::to_le_bytes));
    file.extend(CODE);
    let path = home.path().join("old");
    oversleep_testing::write_executable(&path, &file, 0o755);
    let runs = Command::new(&path).status().is_ok_and(|status| status.code() == Some(5));
    if !runs {
        oversleep_testing::skip("this kernel runs no programs for 32 bits");
    }
    runs.then(|| path.display().to_string())
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn report(home: &Home) -> Value {
    serde_json::from_slice(&std::fs::read(home.path().join("r.json")).expect("a report")).expect("JSON")
}

#[test]
fn a_program_for_32_bits_is_refused_with_the_reason() {
    let home = Home::new();
    let Some(old) = program(&home) else { return };
    let Some(output) = emulated(&home, &["--out", "r.json"], &[&old]) else { return };
    assert_eq!(output.status.code(), Some(126), "{}", stderr(&output));
    let said = format!("warning: '{old}' was not run: it is a 32-bit program");
    assert!(stderr(&output).starts_with(&said) && stderr(&output).contains("--allow-32-bit"), "{}", stderr(&output));
    assert_eq!(stderr(&output).lines().skip(1).collect::<Vec<_>>(), ["Written: r.json"], "{}", stderr(&output));
    let report = report(&home);
    let [refused] = &report["refused"].as_array().expect("programs")[..] else { panic!("{report}") };
    assert_eq!((&refused["program"], &refused["count"]), (&Value::from(old.as_str()), &1.into()), "{report}");
    assert!(report["passed_by"].as_array().is_some_and(Vec::is_empty), "no wait of it had native timing: {report}");
    assert_eq!(report["threads_max"], 1);
}

#[test]
fn a_child_for_32_bits_ends_and_its_parent_goes_on() {
    let home = Home::new();
    let Some(old) = program(&home) else { return };
    let script = "for once in 1 2 3; do \"$0\"; echo $?; done; (\"$0\" & wait $!; echo $?); sleep 0.001; exit 9";
    let options = ["--out", "r.json", "--summary"];
    let Some(output) = emulated(&home, &options, &["sh", "-c", script, &old]) else { return };
    assert_eq!(output.status.code(), Some(9), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "126\n126\n126\n126\n");
    assert_eq!(
        stderr(&output).matches("was not run: it is a 32-bit program").count(),
        1,
        "at once: {}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("was not run, count 4: "), "{}", stderr(&output));
    assert_eq!(report(&home)["waits"][0]["count"], 1, "what follows is emulated");
}

/// Starts a program by `posix_spawn`, and after `vfork`; writes how each ended.
const SPAWN: &str = r#"
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **typed) {
    char *none[] = { 0 };
    for (int way = 0; way < 2; way++) {
        pid_t child = 0;
        int status, error = 0;
        if (way) error = posix_spawn(&child, typed[1], 0, 0, typed + 1, none);
        else if (!(child = vfork())) { execve(typed[1], typed + 1, none); _exit(1); }
        waitpid(child, &status, 0);
        printf("%d %d %d\n", error, WIFEXITED(status), WEXITSTATUS(status));
    }
}
"#;

#[test]
fn who_spawns_one_sees_a_program_that_could_not_be_executed() {
    let home = Home::new();
    let Some(spawns) = compiled(&home, SPAWN, &["-w"]) else { return };
    let Some(old) = program(&home) else { return };
    let Some(output) = emulated(&home, &[], &[&spawns, &old]) else { return };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 1 126\n0 1 126\n", "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn programs_for_32_bits_run_natively_where_that_is_allowed() {
    let home = Home::new();
    let Some(old) = program(&home) else { return };
    let options = ["--allow-32-bit", "--out", "r.json"];
    let Some(output) = emulated(&home, &options, &["sh", "-c", "\"$0\"; exit $?", &old]) else { return };
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert!(stderr(&output).contains("execve, count 1: a program for 32 bits runs with native"), "{}", stderr(&output));
    let report = report(&home);
    let passed = report["passed_by"].as_array().expect("calls");
    let has = |call: &str| passed.iter().any(|one| one["call"] == call && one["count"] == 1);
    assert!(has("execve") && has("nanosleep (i386)"), "{report}");
    assert_eq!(report["refused"], serde_json::json!([]));
}

/// Sleeps by the call table of 32-bit programs, and by that of x32, which few kernels have.
const OTHER_TABLES: &str = r#"
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static const int span[2] = { 0, 2000000 };
int main(void) {
    int done;
    __asm__ volatile("int $0x80" : "=a"(done) : "a"(162), "b"(span), "c"(0) : "memory", "r8", "r9", "r10", "r11");
    struct timespec two = { 0, 2000000 };
    long other = syscall(0x40000000 + SYS_nanosleep, &two, 0);
    printf("%d %d\n", done, other == 0 || errno == ENOSYS);
}
"#;

#[test]
fn waits_of_other_call_tables_are_named() {
    let home = Home::new();
    let Some(program) = compiled(&home, OTHER_TABLES, &["-w", "-no-pie", "-static"]) else { return };
    if !Command::new(&program).output().is_ok_and(|output| output.stdout == b"0 1\n") {
        return oversleep_testing::skip("this kernel has no calls of 32-bit programs");
    }
    let Some(output) = emulated(&home, &["--out", "r.json"], &[&program]) else { return };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 1\n", "{}", stderr(&output));
    let report = report(&home);
    for call in ["nanosleep (i386)", "nanosleep (x32)"] {
        let said = format!("not emulated: {call}, count 1: a call by int 0x80 or of the x32 table has native timing");
        assert!(stderr(&output).contains(&said), "{}", stderr(&output));
        let passed = report["passed_by"].as_array().expect("calls");
        assert!(passed.iter().any(|one| one["call"] == call && one["count"] == 1), "{report}");
    }
}
