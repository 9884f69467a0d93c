//! `cargo prove gate`: `assert` on this machine, with the same setting on both sides, idle and beside busy threads, and
//! with more timer slack on one. No verdict may be wrong: a gate of the same setting never fails, and one of more slack
//! never passes. How many are undecided, and how long they take, is reported: that depends on the machine. `--full` runs
//! many more; `--binary PATH` tests another command; `--only NAME` runs the kinds whose name begins so.
//!
//! The same of programs in two languages, each against itself, with 1 ms more timer slack, and with 1 ms of work planted in
//! its loop.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use std::{hint, thread};

use xtask_tools::{on_path, target_directory};

use crate::built;

/// Gates of one kind.
struct Kind {
    name: &'static str,
    sides: Sides,
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

/// What is compared.
enum Sides {
    /// A sleep with 50 µs of timer slack, with one of so much.
    Slack(&'static str),
    /// A program, with itself with this timer slack and argument.
    Program(Language, &'static str, &'static str),
}

#[derive(Clone, Copy)]
enum Language {
    Rust,
    Java,
}

impl Language {
    /// The command that runs the program, which is compiled here if its compiler is.
    fn command(self, root: &Path, scratch: &Path) -> Result<Option<String>, String> {
        let (compiler, source) = match self {
            Language::Rust => ("rustc", "proving/gate/periodic.rs"),
            Language::Java => ("javac", "proving/gate/Periodic.java"),
        };
        if on_path(compiler).is_none() {
            return Ok(None);
        }
        let mut compile = Command::new(compiler);
        let (options, command) = match self {
            Language::Rust => {
                let program = scratch.join("periodic").display().to_string();
                (["--edition=2021".to_owned(), "-O".to_owned(), format!("-o{program}")].to_vec(), program)
            }
            Language::Java => {
                let folder = scratch.display().to_string();
                (["-d".to_owned(), folder.clone()].to_vec(), format!("java -cp {folder} Periodic"))
            }
        };
        let status = compile.args(options).arg(root.join(source)).status();
        match status.map_err(|error| format!("can't run {compiler}: {error}"))?.success() {
            true => Ok(Some(command)),
            false => Err(format!("{source} doesn't compile")),
        }
    }
}

const PASS: i32 = 0;
const FAIL: i32 = 3;
const UNDECIDED: i32 = 4;

/// The same on both sides.
const ALIKE: Kind = Kind {
    name: "",
    sides: Sides::Slack("50us"),
    tolerance: "25%",
    within: "30s",
    busy: 0,
    count: [20, 200],
    wrong: FAIL,
    right: PASS,
};
/// Something is slower on the new side.
const APART: Kind = Kind { count: [5, 40], wrong: PASS, right: FAIL, ..ALIKE };
/// The same for whole programs, whose gates take longer.
const PROGRAM_ALIKE: Kind = Kind { within: "60s", count: [1, 50], ..ALIKE };
const PROGRAM_APART: Kind = Kind { within: "60s", count: [1, 10], ..APART };

const KINDS: [Kind; 11] = [
    Kind { name: "the same, idle", sides: Sides::Slack("50us"), ..ALIKE },
    Kind { name: "the same, beside 4 busy threads", sides: Sides::Slack("50us"), busy: 4, ..ALIKE },
    Kind { name: "50 to 100 µs, idle", sides: Sides::Slack("100us"), ..APART },
    Kind {
        name: "50 to 100 µs, beside 4 busy threads",
        sides: Sides::Slack("100us"),
        within: "60s",
        busy: 4,
        count: [0, 40],
        ..APART
    },
    Kind { name: "50 to 60 µs at 5 %, idle", sides: Sides::Slack("60us"), tolerance: "5%", within: "60s", ..APART },
    Kind { name: "Rust, the same", sides: Sides::Program(Language::Rust, "50us", ""), ..PROGRAM_ALIKE },
    Kind { name: "Rust, 1 ms more of slack", sides: Sides::Program(Language::Rust, "1050us", ""), ..PROGRAM_APART },
    Kind { name: "Rust, 1 ms of work", sides: Sides::Program(Language::Rust, "50us", "work"), ..PROGRAM_APART },
    Kind { name: "Java, the same", sides: Sides::Program(Language::Java, "50us", ""), ..PROGRAM_ALIKE },
    Kind { name: "Java, 1 ms more of slack", sides: Sides::Program(Language::Java, "1050us", ""), ..PROGRAM_APART },
    Kind { name: "Java, 1 ms of work", sides: Sides::Program(Language::Java, "50us", "work"), ..PROGRAM_APART },
];

/// Runs the suite. Exit code 0: no verdict was wrong.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let (mut is_full, mut binary, mut only) = (false, None, "");
    let mut args = args.iter();
    while let Some(one) = args.next() {
        match one.as_str() {
            "--full" => is_full = true,
            "--binary" => binary = Some(PathBuf::from(args.next().ok_or("--binary takes a path")?)),
            "--only" => only = args.next().ok_or("--only takes the beginning of a kind's name")?,
            other => return Err(format!("gate takes --full, --binary PATH and --only NAME, not `{other}`")),
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
    let scratch = target_directory(root).join("proving/gate");
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let chosen: Vec<&Kind> = KINDS.iter().filter(|kind| kind.name.starts_with(only)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        return Err(format!("no kind of gate begins with `{only}`; there are: {}", names.join("; ")));
    }
    let mut is_wrong = false;
    for kind in chosen {
        match gate(&program, kind, root, &scratch)? {
            Some(gate) => is_wrong |= run(gate, kind, kind.count[usize::from(is_full)])?,
            None => println!("SKIPPED: {}: no compiler", kind.name),
        }
    }
    Ok(if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs the gates of a kind. Returns whether a verdict was wrong.
fn run(mut gate: Command, kind: &Kind, count: u32) -> Result<bool, String> {
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
            let output = gate.output().map_err(|error| format!("can't run {gate:?}: {error}"))?;
            let code = output.status.code().ok_or("a signal ended `oversleep assert`")?;
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
        let decided = match time(0.5).zip(time(1.0)) {
            Some((median, slowest)) => format!("decided in {median:.1} s, the slowest in {slowest:.1} s"),
            None => format!("none decided within {}", kind.within),
        };
        println!("{:<36} {count:>3} gates: {right} right, {undecided} undecided, {wrong} WRONG; {decided}", kind.name);
    }
    Ok(wrong > 0)
}

/// The command that compares; `None` if nothing here compiles its program.
fn gate(program: &Path, kind: &Kind, root: &Path, scratch: &Path) -> Result<Option<Command>, String> {
    let mut gate = Command::new(program);
    gate.args(["assert", "--quiet", "--max-regression", kind.tolerance, "--within", kind.within]);
    match kind.sides {
        Sides::Slack(slack) => {
            let new = format!("slack={slack}");
            gate.args(["nanosleep(1ms)", "--base-setting", "slack=50us", "--new-setting", &new]);
        }
        Sides::Program(language, slack, argument) => {
            let Some(command) = language.command(root, scratch)? else { return Ok(None) };
            let under = |slack: &str, argument: &str| {
                format!("{} run --quiet --slack {slack} -- {command} {argument}", program.display())
            };
            gate.args(["--base", &under("50us", ""), "--new", &under(slack, argument)]);
        }
    }
    Ok(Some(gate))
}
