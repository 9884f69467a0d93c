//! The cost of calls compared with native runs: medians of paired rounds. Beside it is the floor, which no filter can go
//! below: what the least filter costs, and of that what the kernel's flag costs that makes it check each call.

use super::{Bench, Verdict};

/// A call that the filter ignores, one whose arguments it checks, and a wait that is over at once; ns per call. With a
/// word, under a filter that allows all calls, or with only the kernel's flag set (dispatch to user space, which excludes
/// all of memory). The filter's one instruction is answered from a table of the kernel; "argument" puts the load of an
/// argument before it, so that the kernel runs it at each call.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static double ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
static char selector;
int main(int count, char **typed) {
    int reads = count > 1 && !strcmp(typed[1], "argument");
    if (reads || count > 1 && !strcmp(typed[1], "filter")) {
        struct sock_filter all[] = {
            { BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, args[1]) },
            { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
        };
        struct sock_fprog program = { 1 + reads, all + 1 - reads };
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
/// A call, how much more it may cost than the least filter for such calls, and the run with that filter.
const CALLS: [(&str, f64, usize); 3] = [
    ("a call that isn't inspected", 10.0, FILTER),
    ("one whose arguments are", 25.0, ARGUMENT),
    ("a wait that is over at once", 10_000.0, ARGUMENT),
];
/// How the program runs: natively, emulated, and with what the kernel takes in any case.
const RUNS: [(bool, &[&str]); 5] =
    [(false, &[]), (true, &[]), (false, &["filter"]), (false, &["argument"]), (false, &["flag"])];
const NATIVE: usize = 0;
const EMULATED: usize = 1;
const FILTER: usize = 2;
const ARGUMENT: usize = 3;
const FLAG: usize = 4;

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    if bench.built("cost.c", SOURCE, &["cc", "-O2", "-o", "cost", "cost.c"]).is_none() {
        return Ok(Verdict::Skipped);
    }
    let rounds = if bench.is_whole { 41 } else { 9 };
    // By round and run: the costs of the calls.
    let mut costs: Vec<[Vec<f64>; RUNS.len()]> = Vec::new();
    for round in 0..rounds {
        let mut all = [const { Vec::new() }; RUNS.len()];
        // Each comes first in every fifth round.
        for run in (0..RUNS.len()).map(|at| (at + round) % RUNS.len()) {
            let (is_emulated, words) = RUNS[run];
            let typed: Vec<String> = ["./cost"].iter().chain(words).map(|&word| word.to_owned()).collect();
            let text = bench.output(is_emulated.then_some(&[]), &typed)?;
            all[run] = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            if all[run].len() != CALLS.len() {
                return Err(format!("no {} costs: {text}", CALLS.len()));
            }
        }
        costs.push(all);
    }
    let mut is_fine = true;
    println!(
        "ns per call; medians of {rounds} rounds, each difference within its round. The floor is what the least filter"
    );
    println!(
        "adds, which allows everything: for inspected calls it reads one argument. The excess is what emulation adds"
    );
    println!("to that.");
    println!(
        "  {:<30} {:>8} {:>9} {:>7} {:>9} {:>8} {:>5}",
        "", "native", "emulated", "floor", "its flag", "excess", "bar"
    );
    for (call, (what, bar, least)) in CALLS.into_iter().enumerate() {
        let median = |of: &dyn Fn(&[Vec<f64>; RUNS.len()]) -> f64| {
            let mut values: Vec<f64> = costs.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[rounds / 2]
        };
        let beyond = |run: usize, base: usize| median(&|round| round[run][call] - round[base][call]);
        let native = median(&|round| round[NATIVE][call]);
        let [emulated, floor, flag] = [EMULATED, least, FLAG].map(|run| beyond(run, NATIVE));
        let excess = beyond(EMULATED, least);
        let words = match (emulated <= bar, excess <= bar) {
            (true, _) => "ok",
            (false, true) => "the floor is beyond the bar, the excess within it",
            (false, false) => "NOT SO",
        };
        is_fine &= emulated.min(excess) <= bar;
        println!(
            "  {what:<30} {native:>8.0} {emulated:>+9.0} {floor:>+7.0} {flag:>+9.0} {excess:>+8.0} {bar:>5.0}  {words}"
        );
    }
    Ok(if is_fine { Verdict::Holds } else { Verdict::Fails })
}
