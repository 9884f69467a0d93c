//! The cost of calls compared with native runs: medians of paired rounds. Beside it is the cost of any filter, and of the
//! kernel's flag that makes it check each call: no filter can cost less.

use super::{Bench, Verdict};

/// A call that the filter ignores, one whose arguments it checks, and a wait that is over at once; ns per call. With a
/// word, under a filter of one instruction that allows all calls, or with only the kernel's flag set (dispatch to user
/// space, which excludes all of memory).
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static double ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
static char selector;
int main(int count, char **typed) {
    if (count > 1 && !strcmp(typed[1], "filter")) {
        struct sock_filter allow = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
        struct sock_fprog program = { 1, &allow };
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 1;
    }
    if (count > 1 && !strcmp(typed[1], "flag") && prctl(59, 1, 0, 0x7fffffffffffffff, &selector)) return 1;
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
/// A call, and how much more it may cost than natively and than under a filter that allows all.
const CALLS: [(&str, f64); 3] = [
    ("a call that isn't inspected", 10.0),
    ("one whose arguments are", 25.0),
    ("a wait that is over at once", 10_000.0),
];
/// How the program runs: natively, emulated, and with what the kernel takes in any case.
const RUNS: [(bool, &[&str]); 4] = [(false, &[]), (true, &[]), (false, &["filter"]), (false, &["flag"])];

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    if bench.built("cost.c", SOURCE, &["cc", "-O2", "-o", "cost", "cost.c"]).is_none() {
        return Ok(Verdict::Skipped);
    }
    let rounds = if bench.is_whole { 41 } else { 9 };
    // By call and run: what it cost more than natively in the same round.
    let mut more = [const { [const { Vec::new() }; RUNS.len()] }; CALLS.len()];
    for _ in 0..rounds {
        let mut native = Vec::new();
        for (run, (is_emulated, words)) in RUNS.iter().enumerate() {
            let typed: Vec<String> = ["./cost"].iter().chain(*words).map(|&word| word.to_owned()).collect();
            let text = bench.output(is_emulated.then_some(&[]), &typed)?;
            let costs: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            if run == 0 {
                native.clone_from(&costs);
            }
            for (call, more) in more.iter_mut().enumerate() {
                let [cost, native] = [&costs, &native].map(|all| all.get(call).copied().unwrap_or(f64::NAN));
                more[run].push(cost - native);
            }
        }
    }
    let mut is_fine = true;
    println!(
        "medians of {rounds} rounds; beside them what the kernel adds for a filter of one instruction, and for its flag"
    );
    for ((what, bar), more) in CALLS.into_iter().zip(&mut more) {
        let [_, emulated, filter, flag] = more.each_mut().map(|values| {
            values.sort_by(f64::total_cmp);
            values[rounds / 2]
        });
        // A filter that does nothing is the least that there is.
        let is_within = emulated <= bar || emulated - filter.max(0.0) <= bar;
        is_fine &= is_within;
        println!(
            "  {what}: {emulated:+.0} ns (bar {bar}); any filter {filter:+.0}, the flag {flag:+.0}: {}",
            match (emulated <= bar, is_within) {
                (true, _) => "ok",
                (false, true) => "beyond the bar, but within it of what any filter costs here",
                (false, false) => "NOT SO",
            }
        );
    }
    Ok(if is_fine { Verdict::Holds } else { Verdict::Fails })
}
