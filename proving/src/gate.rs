//! `cargo prove gate`: `assert` on this machine, with the same setting on both sides, idle and beside busy threads, and
//! with more timer slack on one. No verdict may be wrong: a gate of the same setting never fails, and one of more slack
//! never passes. How many are undecided, and how long they take, is reported: that depends on the machine. `--full` runs
//! many more; `--binary PATH` tests another command.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use std::{hint, thread};

use crate::built;

/// Gates of one kind.
struct Kind {
    name: &'static str,
    new_slack: &'static str,
    tolerance: &'static str,
    within: &'static str,
    /// How many threads are busy meanwhile.
    busy: usize,
    /// How many gates, and how many with `--full`.
    count: [u32; 2],
    /// The exit code that would be wrong.
    wrong: i32,
    /// The exit code of a decided one.
    right: i32,
}

const PASS: i32 = 0;
const FAIL: i32 = 3;
const UNDECIDED: i32 = 4;

const KINDS: [Kind; 5] = [
    Kind {
        name: "the same, idle",
        new_slack: "50us",
        tolerance: "25%",
        within: "30s",
        busy: 0,
        count: [20, 200],
        wrong: FAIL,
        right: PASS,
    },
    Kind {
        name: "the same, beside 4 busy threads",
        new_slack: "50us",
        tolerance: "25%",
        within: "30s",
        busy: 4,
        count: [20, 200],
        wrong: FAIL,
        right: PASS,
    },
    Kind {
        name: "50 to 100 µs, idle",
        new_slack: "100us",
        tolerance: "25%",
        within: "30s",
        busy: 0,
        count: [5, 40],
        wrong: PASS,
        right: FAIL,
    },
    Kind {
        name: "50 to 100 µs, beside 4 busy threads",
        new_slack: "100us",
        tolerance: "25%",
        within: "60s",
        busy: 4,
        count: [0, 40],
        wrong: PASS,
        right: FAIL,
    },
    Kind {
        name: "50 to 60 µs at 5 %, idle",
        new_slack: "60us",
        tolerance: "5%",
        within: "60s",
        busy: 0,
        count: [5, 40],
        wrong: PASS,
        right: FAIL,
    },
];

/// Runs the suite. Exit code 0: no verdict was wrong.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let (mut is_full, mut binary) = (false, None);
    let mut args = args.iter();
    while let Some(one) = args.next() {
        match one.as_str() {
            "--full" => is_full = true,
            "--binary" => binary = Some(PathBuf::from(args.next().ok_or("--binary takes a path")?)),
            other => return Err(format!("gate takes --full and --binary PATH, not `{other}`")),
        }
    }
    if !cfg!(target_os = "linux") {
        println!("SKIPPED: timer slack is Linux's");
        return Ok(ExitCode::SUCCESS);
    }
    let program = match binary {
        Some(path) => path,
        None => built::release(root)?,
    };
    let mut is_wrong = false;
    for kind in &KINDS {
        is_wrong |= run(&program, kind, kind.count[usize::from(is_full)])?;
    }
    Ok(if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs the gates of a kind. Returns whether a verdict was wrong.
fn run(program: &Path, kind: &Kind, count: u32) -> Result<bool, String> {
    let is_over = AtomicBool::new(count == 0);
    let (mut right, mut wrong, mut undecided, mut times_s) = (0, 0, 0, Vec::new());
    thread::scope(|scope| {
        for _ in 0..kind.busy {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let all = (0..count).try_for_each(|_| {
            let begun = Instant::now();
            let code = gate(program, kind)?;
            match code {
                _ if code == kind.right => {
                    right += 1;
                    times_s.push(begun.elapsed().as_secs_f64());
                }
                _ if code == kind.wrong => wrong += 1,
                UNDECIDED => undecided += 1,
                _ => return Err(format!("{}: `oversleep assert` ended with {code}", kind.name)),
            }
            Ok(())
        });
        is_over.store(true, Ordering::Relaxed);
        all
    })?;
    if count > 0 {
        times_s.sort_by(f64::total_cmp);
        let time = |share: f64| times_s.get((times_s.len() as f64 * share) as usize).or(times_s.last()).copied();
        println!(
            "{:<36} {count:>3} gates: {right} right, {undecided} undecided, {wrong} WRONG; decided in {:.1} s, the slowest in {:.1} s",
            kind.name,
            time(0.5).unwrap_or(f64::NAN),
            time(1.0).unwrap_or(f64::NAN)
        );
    }
    Ok(wrong > 0)
}

fn gate(program: &Path, kind: &Kind) -> Result<i32, String> {
    let new = format!("slack={}", kind.new_slack);
    let output = Command::new(program)
        .args(["assert", "nanosleep(1ms)", "--quiet", "--base-setting", "slack=50us", "--new-setting", &new])
        .args(["--max-regression", kind.tolerance, "--within", kind.within])
        .output()
        .map_err(|error| format!("can't run '{}': {error}", program.display()))?;
    output.status.code().ok_or_else(|| "a signal ended `oversleep assert`".to_owned())
}
