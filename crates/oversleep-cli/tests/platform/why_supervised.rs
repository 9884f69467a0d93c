//! `why` without privileges: a supervisor follows a program, which ends as it does without it.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs::File;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::emulate::{allowed, compiled};
use super::support::Home;

#[track_caller]
fn supervised(home: &Home, options: &[&str], program: &[&str]) -> Option<Output> {
    let mut command = home.command();
    command.args(["why", "--by", "supervisor", "--out", "r.json"]).args(options).arg("--").args(program);
    allowed(program[0], command.output().expect("it starts"))
}

fn result(home: &Home) -> Value {
    serde_json::from_slice(&std::fs::read(home.path().join("r.json")).expect("a result")).expect("JSON")
}

/// How many waits of that program and call ended by their timer.
fn count(result: &Value, program: &str, call: &str) -> u64 {
    let series = result["series"].as_array().into_iter().flatten();
    let of = series.filter(|series| series["labels"]["program"] == program && series["subject"] == call);
    of.map(|series| series["counts"]["recorded"].as_u64().expect("a count")).sum()
}

fn parts_add_up(result: &Value) {
    for wait in result["observation"]["worst"].as_array().expect("waits") {
        let parts: i64 = wait["parts"].as_object().expect("parts").values().filter_map(Value::as_i64).sum();
        assert_eq!(wait["lateness_ns"].as_i64(), Some(parts), "{wait}");
        assert!(wait["slack_bound_ns"].is_u64() && wait["marks"]["soft_ns"].is_null(), "{wait}");
    }
}

#[test]
fn a_program_that_never_waited_was_followed_for_some_time() {
    let home = Home::new();
    let Some(output) = supervised(&home, &["--quiet"], &["true"]) else { return };
    assert_eq!(output.status.code(), Some(0));
    assert!(result(&home)["duration_ns"].as_i64().expect("a time") > 0);
}

#[test]
fn the_waits_of_a_program_and_its_children_are_counted_and_split() {
    let home = Home::new();
    let script = "for i in 1 2 3 4 5; do sleep 0.001; done; exit 7";
    let Some(output) = supervised(&home, &[], &["sh", "-c", script]) else { return };
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let result = result(&home);
    assert_eq!(count(&result, "sleep", "clock_nanosleep"), 5, "{result:#}");
    assert!(result["observation"]["by"].as_str().expect("who").starts_with("supervisor"), "{result:#}");
    assert_eq!(result["observation"]["losses"]["no_room"], 0);
    parts_add_up(&result);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("A supervisor saw these waits") && text.contains("need privileges"), "{text}");
    // Shown again, it says the same.
    let again = home.run(["why", "r.json"]).fine();
    assert_eq!(again.stdout, text);
    let Some(_) = supervised(&home, &["--no-follow"], &["sh", "-c", script]) else { return };
    assert_eq!(count(&self::result(&home), "sleep", "clock_nanosleep"), 0);
}

/// Each call for 1 ms in its own thread, with a signal that interrupts one, a deadline that has passed, and another slack.
const CALLS: &str = r#"
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static void caught(int signal) {}
static void *waits(void *none) {
    struct timespec one = { 0, 1000000 }, past = { 1, 0 };
    struct timeval span = { 0, 1000 };
    int word = 1;
    for (int i = 0; i < 20; i++) syscall(SYS_nanosleep, &one, 0);
    for (int i = 0; i < 20; i++) syscall(SYS_poll, 0, 0, 1);
    for (int i = 0; i < 20; i++) { span.tv_sec = 0; span.tv_usec = 1000; syscall(SYS_select, 0, 0, 0, 0, &span); }
    for (int i = 0; i < 20; i++) syscall(SYS_futex, &word, 128, 1, &one, 0, 0);
    for (int i = 0; i < 20; i++) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, 0);
    return 0;
}
int main(int count, char **typed) {
    pthread_t threads[2];
    prctl(PR_SET_TIMERSLACK, 7000);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, waits, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    struct sigaction action = { .sa_handler = caught };
    sigaction(SIGALRM, &action, 0);
    /* Again and again: a signal that comes before the wait ends nothing. */
    struct itimerval often = { { 0, 50000 }, { 0, 50000 } };
    setitimer(ITIMER_REAL, &often, 0);
    struct timespec long_one = { 86400, 0 };
    return nanosleep(&long_one, 0) == -1 ? 3 : 4;
}
"#;

#[test]
fn each_call_in_each_thread_is_seen_once() {
    let home = Home::new();
    let Some(program) = compiled(&home, CALLS, &["-w", "-pthread"]) else { return };
    let Some(output) = supervised(&home, &["--record", "r.why"], &[&program]) else { return };
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let result = result(&home);
    for call in ["nanosleep", "poll", "select", "futex"] {
        assert_eq!(count(&result, "program", call), 40, "{call}: {result:#}");
    }
    assert_eq!(count(&result, "program", "clock_nanosleep"), 40, "those whose deadline has passed");
    let series = result["series"].as_array().expect("series");
    let interrupted: u64 = series.iter().filter_map(|series| series["observed"]["otherwise"]["signal"].as_u64()).sum();
    assert_eq!(interrupted, 1, "{result:#}");
    let is_plain = |series: &&Value| series["subject"] == "nanosleep" && series["requested_ns"] == 1_000_000;
    let plain = series.iter().find(is_plain).expect("the plain waits");
    assert_eq!(plain["observed"]["slack_bound_ns"], 7_000, "the threads inherited it");
    parts_add_up(&result);
    let replayed = home.run(["why", "r.why", "--json"]).fine();
    let replayed: Value = serde_json::from_str(&replayed.stdout).expect("JSON");
    assert_eq!(replayed["series"], result["series"]);
    assert_eq!(replayed["observation"]["by"], result["observation"]["by"]);
}

#[test]
fn an_ordinary_user_gets_it_without_asking() {
    let home = Home::new();
    let user = Command::new("id").arg("-u").output().expect("it starts");
    let mut command = home.command();
    let folder = tempfile::tempdir().expect("a folder");
    if user.stdout == b"0\n" {
        // In a place that an ordinary user can access.
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("rights");
        let own = folder.path().join("oversleep");
        oversleep_testing::copy_executable(home.command().get_program().as_ref(), &own, 0o755);
        command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]).arg(own);
        command.current_dir("/");
    }
    let typed = ["why", "--json", "--", "sh", "-c", "sleep 0.001; sleep 0.001; exit 5"];
    let Ok(output) = command.args(typed).output() else { return oversleep_testing::skip("no setpriv") };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("setpriv:") {
        return oversleep_testing::skip(stderr);
    }
    let Some(output) = allowed("sh", output) else { return };
    assert_eq!(output.status.code(), Some(5), "{stderr}");
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    // Where the kernel grants its events to everybody, they are used.
    if result["observation"]["by"].is_string() {
        assert!(
            stderr.contains("so a supervisor follows the program") && stderr.contains("sudo setcap cap_bpf"),
            "{stderr}"
        );
        assert_eq!(count(&result, "sleep", "clock_nanosleep"), 2);
    }
}

#[test]
fn what_a_supervisor_cannot_do_is_refused_with_the_reason() {
    let home = Home::new();
    for (words, reason) in [
        (&["-p", "1"][..], "can't take over running processes"),
        (&["--system"], "can't take over running processes"),
        (&["--stacks", "--", "true"], "takes no call stacks"),
    ] {
        let ended = home.run([&["why", "--by", "supervisor"], words].concat()).with_code(2);
        assert!(ended.stderr.contains(reason), "{words:?}: {}", ended.stderr);
    }
}

#[test]
fn a_program_that_can_not_be_run_has_the_codes_of_shells() {
    let home = Home::new();
    for (program, code) in [("no-such-program-anywhere", 127), ("/", 126)] {
        let Some(output) = supervised(&home, &[], &[program]) else { return };
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(&format!("can't run '{program}'")), "{told}");
    }
}

#[test]
fn a_program_outlives_what_follows_it() {
    let home = Home::new();
    // It goes on until it is told to end, with waits that are followed.
    let script = "until [ -e told ]; do sleep 0.01; done; echo went > went";
    let told = home.path().join("stderr");
    let mut command = home.command();
    command.args(["why", "--by", "supervisor", "--for", "100ms", "--out", "r.json", "--", "sh", "-c", script]);
    // It has the streams for longer than the command.
    command.stdout(Stdio::null()).stderr(File::create(&told).expect("a file"));
    let status = command.status().expect("it starts");
    let told = std::fs::read_to_string(&told).expect("text");
    if told.contains("can't trace") {
        return oversleep_testing::skip(told);
    }
    assert!(told.contains("goes on"), "{status}: {told}");
    std::fs::write(home.path().join("told"), "").expect("written");
    while !home.path().join("went").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
