//! Thousands of threads on one tick: each sleep takes the ticks of the model, as far as this machine can wake so many
//! threads in time. The machine's limit is that of the same threads natively, each sleeping until the next multiple of a
//! tick.

use super::{Bench, MACHINE, Verdict};

/// The number of threads, their request in µs, the repetitions, and the expected ticks.
const HERDS: [(u32, u32, u32, u32); 4] =
    [(500, 1_000, 60, 1), (1_000, 1_000, 60, 1), (2_000, 1_000, 60, 1), (5_000, 100_000, 10, 7)];
/// How much larger than natively the share of late sleeps may be.
const ALLOWED: f64 = 0.03;

/// Prints the numbers of sleeps that took at least half a tick too long, of those that ended before what they requested,
/// which no machine does, and of all.
const SOURCE: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static long long ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
static const long long tick = 15625000;
static long long span, ticks;
static int rounds, is_native;
static pthread_barrier_t all;
static long late, early;
static void *sleeps(void *none) {
    struct timespec request = { span / 1000000000, span % 1000000000 };
    long long before = 0;
    pthread_barrier_wait(&all);
    for (int round = 0; round < rounds; round++) {
        long long begun = ns();
        if (is_native) {
            long long end = (begun + span + tick - 1) / tick * tick;
            struct timespec until = { end / 1000000000, end % 1000000000 };
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0);
        } else nanosleep(&request, 0);
        long long now = ns();
        if (now - begun < span) __atomic_add_fetch(&early, 1, __ATOMIC_RELAXED);
        /* From one wake-up to the next: those that follow one another are whole ticks apart. */
        if (before && now - before > ticks * tick + tick / 2) __atomic_add_fetch(&late, 1, __ATOMIC_RELAXED);
        before = now;
    }
    return 0;
}
int main(int count, char **typed) {
    int threads = atoi(typed[1]);
    span = atoll(typed[2]) * 1000;
    rounds = atoi(typed[3]);
    ticks = atoll(typed[4]);
    is_native = count > 5;
    pthread_barrier_init(&all, 0, threads);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_t *each = calloc(threads, sizeof *each);
    for (int at = 0; at < threads; at++) if (pthread_create(&each[at], &small, sleeps, 0)) return 1;
    for (int at = 0; at < threads; at++) pthread_join(each[at], 0);
    printf("%ld %ld %ld\n", late, early, (long)threads * (rounds - 1));
}
"#;

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    if bench.built("herd.c", SOURCE, &["cc", "-O2", "-pthread", "-o", "herd", "herd.c"]).is_none() {
        return Ok(Verdict::Skipped);
    }
    println!("sleeps back to back on {MACHINE}; late: by half a tick or more");
    let mut is_fine = true;
    for (threads, span, rounds, ticks) in HERDS {
        let mut typed = vec!["./herd".to_owned()];
        typed.extend([threads, span, rounds, ticks].map(|number| number.to_string()));
        let emulated = numbers(&bench.output(Some(&["--out", "herd.json"]), &typed)?)?;
        let report = std::fs::read_to_string(bench.folder.join("herd.json")).map_err(|error| error.to_string())?;
        typed.push("native".to_owned());
        let native = numbers(&bench.output(None, &typed)?)?;
        let share = |[late, _, all]: [f64; 3]| late / all;
        let reported = counted(&report, "woke_late") + counted(&report, "may_have_missed");
        let is_kept = share(emulated) <= share(native) + ALLOWED && emulated[1] == 0.0;
        is_fine &= is_kept;
        println!(
            "  {threads} threads, {span} µs: {} early, {:.2} % late ({:.2} % natively), {} reported of {}: {}",
            emulated[1],
            share(emulated) * 100.0,
            share(native) * 100.0,
            reported,
            emulated[0],
            if is_kept { "ok" } else { "NOT SO" }
        );
    }
    Ok(if is_fine { Verdict::Holds } else { Verdict::Fails })
}

fn numbers(text: &str) -> Result<[f64; 3], String> {
    let read: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    read.try_into().map_err(|_| format!("no three numbers: {text}"))
}

/// The sum of a field of the report over all calls.
fn counted(report: &str, field: &str) -> u64 {
    let named = format!("\"{field}\": ");
    report.lines().filter_map(|line| line.trim().strip_prefix(&named)?.trim_end_matches(',').parse::<u64>().ok()).sum()
}
