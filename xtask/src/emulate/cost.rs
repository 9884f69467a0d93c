//! The cost of calls compared with native runs: medians of paired rounds.

use super::{Bench, Verdict};

/// A call that the filter ignores, one whose arguments it checks, and a wait that is over at once; ns per call.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static double ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main(void) {
    int word = 1;
    struct timespec span = { 1, 0 };
    double begun = ns();
    for (int at = 0; at < 200000; at++) syscall(SYS_getppid);
    double plain = ns();
    for (int at = 0; at < 200000; at++) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    double looked = ns();
    /* The word differs, so the wait is over at once. */
    for (int at = 0; at < 5000; at++) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &span, 0, 0);
    double over = ns();
    printf("%f %f %f\n", (plain - begun) / 200000, (looked - plain) / 200000, (over - looked) / 5000);
}
"#;
const CALLS: [(&str, f64); 3] = [
    ("a call that isn't inspected", 10.0),
    ("one whose arguments are", 25.0),
    ("a wait that is over at once", 10_000.0),
];

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    if bench.built("cost.c", SOURCE, &["cc", "-O2", "-o", "cost", "cost.c"]).is_none() {
        return Ok(Verdict::Skipped);
    }
    let pairs = if bench.is_whole { 41 } else { 9 };
    let typed = ["./cost".to_owned()];
    let one = |options| -> Result<Vec<f64>, String> {
        Ok(bench.output(options, &typed)?.split_whitespace().filter_map(|word| word.parse().ok()).collect())
    };
    let mut differences = [const { Vec::new() }; 3];
    for _ in 0..pairs {
        let (native, emulated) = (one(None)?, one(Some(&[]))?);
        for (at, differences) in differences.iter_mut().enumerate() {
            differences.push(emulated.get(at).unwrap_or(&f64::NAN) - native.get(at).unwrap_or(&f64::NAN));
        }
    }
    let mut is_fine = true;
    for ((what, bar), mut differences) in CALLS.into_iter().zip(differences) {
        differences.sort_by(f64::total_cmp);
        let median = differences[pairs / 2];
        is_fine &= median <= bar;
        println!("  {what}: {median:+.0} ns at the median of {pairs} pairs (bar {bar} ns)");
    }
    Ok(if is_fine { Verdict::Holds } else { Verdict::Fails })
}
