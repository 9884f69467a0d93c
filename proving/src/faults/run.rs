//! Selects and runs the cases, several at a time, and reports.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use super::row::{Case, Need, Row};
use super::table::{self, Material};
use super::{judge, needs, page, stage};

/// Cases at a time. Most of them only wait.
const AT_ONCE: usize = 4;

/// The outcome of a row.
pub struct Ran {
    pub runs: usize,
    pub outcome: Outcome,
}

pub enum Outcome {
    Skipped(String),
    /// The failed cases, each with its script and the deviations.
    Ran {
        failed: Vec<(String, String)>,
    },
}

impl Ran {
    pub fn failed(&self) -> usize {
        match &self.outcome {
            Outcome::Skipped(_) => 0,
            Outcome::Ran { failed } => failed.len(),
        }
    }
}

#[derive(Default)]
struct Options {
    all: bool,
    docs: bool,
    binary: Option<PathBuf>,
    names: Vec<String>,
}

/// Runs the suite. Exit code 0: every outcome was as expected.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let options = options(args)?;
    let program = match &options.binary {
        Some(path) => fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))?,
        None => crate::built::debug(root)?,
    };
    let scratch = xtask_tools::target_directory(root).join("faults");
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let scratch = scratch.join(std::process::id().to_string());
    let material = material(&program, &scratch)?;
    let rows = table::rows(&material);
    let is_wanted = |row: &&Row| {
        let has = |name: &String| row.kind == name || row.name.contains(name.as_str());
        options.names.is_empty() || options.names.iter().any(has)
    };
    let rows: Vec<&Row> = rows.iter().filter(is_wanted).collect();
    if rows.is_empty() {
        return Err(format!(
            "no row's kind or name contains {}: docs/faults.md lists them",
            options.names.join(" or ")
        ));
    }
    let began = Instant::now();
    let ran = run_all(&rows, options.all, &program, &scratch);
    let _ = fs::remove_dir_all(&scratch);
    let pairs: Vec<(&Row, Ran)> = rows.into_iter().zip(ran).collect();
    let failed: usize = pairs.iter().map(|(_, ran)| ran.failed()).sum();
    let runs: usize = pairs.iter().map(|(_, ran)| ran.runs).sum();
    for (row, ran) in &pairs {
        if let Outcome::Skipped(reason) = &ran.outcome {
            println!("SKIPPED  {}: {}: {reason}", row.kind, row.name);
        }
    }
    println!("faults: {} rows, {runs} runs, {failed} not as expected, {} s", pairs.len(), began.elapsed().as_secs());
    if options.docs {
        page::write(root, options.all, &pairs)?;
        println!("faults: docs/faults.md is written");
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(one) = args.next() {
        match one.as_str() {
            "--all" => options.all = true,
            "--docs" => options.docs = true,
            "--binary" => options.binary = Some(args.next().ok_or("--binary takes a path")?.into()),
            other if other.starts_with('-') => {
                return Err(format!("faults takes --all, --docs, --binary PATH and names, not `{other}`"));
            }
            name => options.names.push(name.to_owned()),
        }
    }
    if options.docs && (!options.names.is_empty() || !options.all) {
        return Err("--docs shows the whole table: give it with --all and without names".to_owned());
    }
    Ok(options)
}

/// The input files of rows, written by the command itself.
fn material(program: &Path, scratch: &Path) -> Result<Material, String> {
    let arguments =
        "exec \"$O\" check --on windows-11 --only A1,B5 --quick --request 1ms --count 20 --no-remedies --json -";
    let ended = stage::run(&Case::script(arguments), program, scratch)?;
    match ended.status {
        Ok(0 | 4) => Ok(Material { result: ended.stdout }),
        _ => Err(format!("no result to work with: {}", String::from_utf8_lossy(&ended.stderr))),
    }
}

fn run_all(rows: &[&Row], all: bool, program: &Path, scratch: &Path) -> Vec<Ran> {
    let mut lacking: HashMap<String, Option<String>> = HashMap::new();
    let mut reason = |row: &Row| {
        let mut found =
            |need: &Need| lacking.entry(format!("{need:?}")).or_insert_with(|| needs::lacking(*need)).clone();
        row.needs.iter().find_map(&mut found)
    };
    let reasons: Vec<Option<String>> = rows.iter().map(|row| reason(row)).collect();
    let mut cases: Vec<(usize, &Case)> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let count = if all { row.cases.len() } else { row.sampled.min(row.cases.len()) };
        if reasons[index].is_none() {
            cases.extend(row.cases[..count].iter().map(|case| (index, case)));
        }
    }
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            let (next, failed, cases) = (&next, &failed, &cases);
            let room = scratch.with_extension(worker.to_string());
            scope.spawn(move || {
                while let Some((index, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(fault) = fault(rows[*index], case, program, &room) {
                        failed.lock().expect("no worker panics with it").push((*index, *case, fault));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no worker panics with it");
    let failed: Vec<(usize, String, String)> = failed
        .into_iter()
        .filter_map(|(index, case, first)| {
            let again = || fault(rows[index], case, program, scratch);
            let depends_on_moments = !case.signals.is_empty();
            let (what, shown) = if depends_on_moments { confirmed(rows[index], first, again)? } else { first };
            println!("FAILED   {}: {}: {what}\n         {shown}", rows[index].kind, rows[index].name);
            Some((index, case.script.clone(), what))
        })
        .collect();
    let of_row = |(index, reason): (usize, Option<String>)| match reason {
        Some(reason) => Ran { runs: 0, outcome: Outcome::Skipped(reason) },
        None => {
            let runs = cases.iter().filter(|(row, _)| *row == index).count();
            let of_row = failed.iter().filter(|(row, ..)| *row == index);
            Ran {
                runs,
                outcome: Outcome::Ran {
                    failed: of_row.map(|(_, script, what)| (script.clone(), what.clone())).collect(),
                },
            }
        }
    };
    reasons.into_iter().enumerate().map(of_row).collect()
}

/// The deviation of a case and its script.
type Fault = (String, String);

/// A deviation, if the case deviates alone as well, in two more runs: signals are sent at moments of real time, and a
/// machine that stalls moves them. A deviation that doesn't come back is printed.
fn confirmed(row: &Row, first: Fault, again: impl Fn() -> Option<Fault>) -> Option<Fault> {
    if let Some(fault) = again().and_then(|_| again()) {
        return Some(fault);
    }
    println!("AGAIN    faults: {}: {}: as expected in another run; at first: {}", row.kind, row.name, first.0);
    None
}

fn fault(row: &Row, case: &Case, program: &Path, room: &Path) -> Option<Fault> {
    let what = match stage::run(case, program, room) {
        Err(reason) => (format!("could not be staged: {reason}"), String::new()),
        Ok(ended) => {
            let faults = judge::faults(&row.expect, case, &ended);
            if faults.is_empty() {
                return None;
            }
            let text = String::from_utf8_lossy(&ended.stderr);
            (faults.join("; "), text.chars().take(300).collect::<String>().escape_debug().to_string())
        }
    };
    let signals: Vec<&str> = case.signals.iter().map(|signal| signal.name).collect();
    Some((what.0, format!("{} {}\n         {}", case.script, signals.join(" "), what.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_fails_if_it_deviates_in_every_run() {
        let rows = table::rows(&Material { result: Vec::new() });
        let counts = |later: &[bool]| {
            let mut later = later.iter();
            let next = std::cell::RefCell::new(|| later.next().copied().unwrap_or(false));
            let again = || (next.borrow_mut())().then(|| ("again".to_owned(), String::new()));
            confirmed(&rows[0], ("first".to_owned(), String::new()), again).is_some()
        };
        assert!(counts(&[true, true]));
        assert!(!counts(&[true, false]) && !counts(&[false, true]));
    }
}
