//! `emulate --like`: this machine's own wake-up is taken off, so that waits are as late as on the other machine.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs;

use super::emulate::{TIMES, allowed, compiled};
use super::support::Home;

/// The lateness of 200 sleeps of 1 ms at p50 and p90, and how many were early.
const SLEEPS: &str = r#"
static int by_size(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }
static long long ns(void) { struct timespec t; clock_gettime(1, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
int main(void) {
    int late[200], early = 0;
    struct timespec span = { 0, 1000000 };
    for (int at = 0; at < 200; at++) {
        long long begun = ns();
        nanosleep(&span, 0);
        late[at] = ns() - begun - 1000000;
        early += late[at] < 0;
    }
    qsort(late, 200, sizeof late[0], by_size);
    printf("%d %d %d\n", late[100], late[180], early);
}"#;

/// The p50 and p90 of emulated sleeps, as ratios to those there; `None` if it can't be tested here.
#[track_caller]
fn ratios(home: &Home) -> Option<[f64; 2]> {
    let program = compiled(home, &format!("{TIMES}{SLEEPS}"), &["-w"])?;
    let machine = ["--on", "raspberry-pi-4", "--set", "slack=150us", "--out", "there.json"];
    home.run([&["waits", "nanosleep", "--request", "1ms"][..], &machine].concat()).fine();
    // A result of a model teaches nothing, so this one says that it was measured.
    let path = home.path().join("there.json");
    let mut result: serde_json::Value = serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON");
    result["platform"].as_object_mut().expect("a platform").remove("modelled");
    fs::write(&path, result.to_string()).expect("a file");
    let answer = home.run(["ask", "nanosleep(1ms)", "--like", "there.json", "--json"]).fine();
    let answer: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
    let there = |quantile: &str| answer[0][quantile].as_f64().expect("a duration") - 1e6;
    let mut command = home.command();
    command.args(["emulate", "--like", "there.json", "--out", "r.json", "--", &program]);
    let output = command.output().expect("it starts");
    let output = allowed(&program, output)?;
    let report = fs::read(home.path().join("r.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["own_wake_up"]["sleeps"].as_array().map(Vec::len), Some(3), "{report}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [p50, p90, early] = numbers[..] else { panic!("{output:?}") };
    assert!(early == 0.0, "{early} sleeps were early");
    Some([p50 / there("p50_ns"), p90 / there("p90_ns")])
}

#[test]
fn the_report_says_what_was_taken_off_and_no_sleep_is_early() {
    ratios(&Home::new());
}

#[test]
#[ignore = "for the proving ground: a distribution in real time"]
fn sleeps_are_as_late_as_on_the_other_machine() {
    const ATTEMPTS: usize = 10;
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let Some([p50, p90]) = ratios(&Home::new()) else { return };
        if (0.85..1.15).contains(&p50) && (0.8..1.35).contains(&p90) {
            return;
        }
        seen.push([p50, p90]);
    }
    panic!("p50 and p90, as ratios: {seen:?}");
}
