//! What `why` costs a program's waits of 1 ms, by the program's own clock: paired medians of rounds in turn. Beside it is
//! the lateness that `why` itself reported, which the stops of a supervisor change.

use std::process::{Command, Stdio};

use oversleep_record::ResultFile;

use super::{Bench, Verdict};

/// Waits for 1 ms until an absolute time, or for a span; prints the median of what each was late by its own clock, in ns.
const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static long long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
static int order(const void *a, const void *b) { long long x = *(long long *)a, y = *(long long *)b; return (x > y) - (x < y); }
int main(void) {
    enum { COUNT = 400 };
    static long long late[COUNT];
    struct timespec span = { 0, 1000000 };
    for (int i = 0; i < COUNT; i++) {
        long long begun = now();
        clock_nanosleep(CLOCK_MONOTONIC, 0, &span, 0);
        late[i] = now() - begun - 1000000;
    }
    qsort(late, COUNT, sizeof *late, order);
    printf("%lld\n", late[COUNT / 2]);
}
"#;

/// How the program runs: alone, or under `why`.
const RUNS: [(&str, Option<&str>); 3] =
    [("alone", None), ("why --by supervisor", Some("supervisor")), ("why --by kernel", Some("kernel"))];
/// The supervisor adds two stops to a wait: no more than this.
const ADDED_MAX_NS: i64 = 150_000;

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    if bench.built("observe.c", SOURCE, &["cc", "-O2", "-o", "observe", "observe.c"]).is_none() {
        return Ok(Verdict::Skipped);
    }
    let rounds = if bench.is_whole { 31 } else { 9 };
    // By run: what the program measured more than alone, and what was reported beyond that.
    let mut added = [const { Vec::new() }; RUNS.len()];
    let mut reported = [const { Vec::new() }; RUNS.len()];
    for round in 0..rounds {
        let mut all = [None; RUNS.len()];
        for run in (0..RUNS.len()).map(|at| (at + round) % RUNS.len()) {
            all[run] = lap(bench, RUNS[run].1)?;
        }
        let Some((alone, _)) = all[0] else { return Err("the program measured nothing".to_owned()) };
        for (run, lap) in all.into_iter().enumerate() {
            if let Some((own, by_why)) = lap {
                added[run].push(own - alone);
                reported[run].push(by_why.unwrap_or(own) - alone);
            }
        }
    }
    println!("a wait of 1 ms, medians of {rounds} rounds in turn, ns more than the program alone measures:");
    println!("  {:<22} {:>14} {:>14}", "", "by its clock", "as reported");
    for (run, (name, _)) in RUNS.into_iter().enumerate().skip(1) {
        match (median(&mut added[run]), median(&mut reported[run])) {
            (Some(own), Some(by_why)) => println!("  {name:<22} {own:>+14} {by_why:>+14}"),
            _ => println!("  {name:<22} {:>14}", "not allowed"),
        }
    }
    let is_fine = median(&mut added[1]).is_some_and(|ns| ns <= ADDED_MAX_NS);
    Ok(if is_fine { Verdict::Holds } else { Verdict::Fails })
}

/// What the program measured at p50, and what `why` reported; `None` where that isn't allowed.
fn lap(bench: &Bench, by: Option<&str>) -> Result<Option<(i64, Option<i64>)>, String> {
    let result = bench.folder.join("observe.json");
    let mut command = match by {
        None => Command::new("./observe"),
        Some(by) => {
            let mut command = Command::new(&bench.command);
            command.args(["why", "--quiet", "--by", by, "--out"]).arg(&result).args(["--html", "observe.html"]);
            command.args(["--", "./observe"]);
            command
        }
    };
    let output = command.current_dir(&bench.folder).stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some(own) = text.lines().find_map(|line| line.parse().ok()) else { return Ok(None) };
    if by.is_none() {
        return Ok(Some((own, None)));
    }
    let bytes = std::fs::read(&result).map_err(|error| error.to_string())?;
    let result = ResultFile::read(&bytes).map_err(|error| error.to_string())?;
    let waits = result.series.iter().filter(|series| series.observed.is_some());
    let most = waits.max_by_key(|series| series.counts.recorded);
    Ok(Some((own, most.and_then(|series| series.distribution.p50()))))
}

fn median(values: &mut [i64]) -> Option<i64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}
