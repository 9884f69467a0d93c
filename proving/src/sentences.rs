//! `cargo prove sentences`: checks the sentences of reports against their figures. Without files it runs the built
//! command on every modelled machine, at each depth, as found and under load, with several seeds, and on this machine;
//! `--binary PATH` tests another command, `--machine NAME` one machine instead of all. The conclusions of two seeds for
//! one machine must not contradict each other either.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use oversleep_explain::consistency::{contradictions, in_report, largest_costs_by_name};
use oversleep_explain::verdicts::clock_table;
use oversleep_record::ResultFile;
use oversleep_record::finding::Verdict;

/// The ways of measuring a machine.
const WAYS: &[&str] =
    &["check --quick", "check", "check --thorough", "check --load spin:8", "check --quick --load spin:8", "clocks"];
const SEEDS: std::ops::RangeInclusive<u32> = 1..=3;
/// Findings of rare events, which may or may not occur in a run.
const BY_CHANCE: &[&str] = &["early-return", "early-wake-ups"];
/// The measurements of this machine, with their loads.
const HERE: &[&str] = &[
    "check --quick",
    "check --quick",
    "check --quick --pin 0",
    "check --quick --policy fifo:50",
    "check --quick --load spin:2",
    "check --quick --load spin:8",
    "check",
    "check --load spin:4",
    "check --thorough",
    "clocks",
];

/// Runs the suite. Exit code 0: no contradictions.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let (mut files, mut binary, mut only) = (Vec::new(), None, None);
    let mut args = args.iter();
    while let Some(one) = args.next() {
        match one.as_str() {
            "--binary" => binary = Some(PathBuf::from(args.next().ok_or("--binary takes a path")?)),
            "--machine" => only = Some(args.next().ok_or("--machine takes a name")?.clone()),
            option if option.starts_with('-') => {
                return Err(format!("sentences takes --binary PATH and --machine NAME, not `{option}`"));
            }
            file => files.push(PathBuf::from(file)),
        }
    }
    let mut judge = Judge::default();
    if files.is_empty() {
        let program = binary.map_or_else(|| crate::built::release(root), Ok)?;
        judge.all(&program, &xtask_tools::target_directory(root).join("sentences"), only.as_deref())?;
    }
    for file in files {
        judge.file(&file.display().to_string(), &file, None)?;
    }
    println!("{} results, {} sentences: {} contradictions", judge.results, judge.sentences, judge.wrong);
    Ok(if judge.wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Default)]
struct Judge {
    results: usize,
    sentences: usize,
    wrong: usize,
    /// The conclusions about a machine, by the way of measuring and the name of the finding or clock.
    said: BTreeMap<(String, String), (String, String)>,
    /// The largest costs, by the way of measuring and of what.
    largest: BTreeMap<(String, &'static str), Largest>,
}

/// The largest cost of a result, and the findings that it leaves open no more.
#[derive(Clone)]
struct Largest {
    name: String,
    settled: BTreeSet<String>,
}

impl Largest {
    /// Whether it says neither that the other one's cost is there nor that it isn't.
    fn leaves_open(&self, other: &Largest) -> bool {
        other.name != "none" && !self.settled.contains(&other.name)
    }

    fn contradicts(&self, other: &Largest) -> bool {
        self.name != other.name && !self.leaves_open(other) && !other.leaves_open(self)
    }
}

impl Judge {
    fn all(&mut self, program: &Path, directory: &Path, only: Option<&str>) -> Result<(), String> {
        fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let listed = Command::new(program).args(["machines", "--json"]).output().map_err(|error| error.to_string())?;
        let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).map_err(|error| error.to_string())?;
        let names = listed.as_array().into_iter().flatten().filter_map(|machine| machine["name"].as_str());
        let machines: Vec<&str> = names.filter(|name| only.is_none_or(|only| only == *name)).collect();
        if let (Some(only), []) = (only, machines.as_slice()) {
            return Err(format!("there is no machine '{only}'; `oversleep machines` lists them"));
        }
        let path = directory.join("result.json");
        for machine in machines {
            let assumed = assumed(program, machine)?;
            for way in WAYS {
                for seed in SEEDS {
                    let seed = seed.to_string();
                    run(program, &path, way.split(' ').chain(["--on", machine, "--seed", &seed]))?;
                    let name = format!("{way} --on {machine} --seed {seed}");
                    self.file(&name, &path, Some(&format!("{machine} {way}")))?;
                    self.report(&name, program, &path, &assumed)?;
                }
            }
        }
        for way in HERE.iter().filter(|_| only.is_none()) {
            run(program, &path, way.split(' '))?;
            self.file(way, &path, None)?;
            self.report(way, program, &path, &BTreeMap::new())?;
        }
        fs::remove_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))
    }

    /// Judges one result; `same` identifies the results that must have the same conclusions.
    fn file(&mut self, shown: &str, path: &Path, same: Option<&str>) -> Result<(), String> {
        let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let file = ResultFile::read(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        self.results += 1;
        self.sentences += file.findings.len();
        for (finding, what) in contradictions(&file) {
            self.note(shown, &finding, &what);
        }
        let Some(same) = same else { return Ok(()) };
        let settled = file.findings.iter().filter(|one| {
            matches!(one.verdict, Verdict::Found | Verdict::NotFound) && !BY_CHANCE.contains(&one.name.as_str())
        });
        let findings = settled.map(|one| (one.name.clone(), format!("{:?}", one.verdict), one.sentence.clone()));
        let rows = clock_table(&file).rows;
        let clocks = rows.iter().map(|row| (row.name.clone(), format!("{:?}", row.validity), row.reasons.join(", ")));
        self.costs(shown, &file, same);
        for (name, verdict, sentence) in findings.chain(clocks).collect::<Vec<_>>() {
            let key = (same.to_owned(), name.clone());
            let first = self.said.entry(key).or_insert_with(|| (verdict.clone(), sentence.clone())).clone();
            if first.0 != verdict {
                self.note(
                    shown,
                    &name,
                    &format!("{verdict} ({sentence}), but {} ({}) with another seed", first.0, first.1),
                );
            }
        }
        Ok(())
    }

    /// Results of one machine must name the same largest costs.
    fn costs(&mut self, shown: &str, file: &ResultFile, same: &str) {
        let settled = file.findings.iter().filter(|one| matches!(one.verdict, Verdict::Found | Verdict::NotFound));
        let settled: BTreeSet<String> = settled.map(|one| one.name.clone()).collect();
        for (what, name) in largest_costs_by_name(file, &file.findings) {
            let now = Largest { name, settled: settled.clone() };
            let first = self.largest.entry((same.to_owned(), what)).or_insert_with(|| now.clone()).clone();
            if now.contradicts(&first) {
                self.note(shown, what, &format!("{}, but {} with another seed", now.name, first.name));
            }
        }
    }

    /// Judges the report of a result as it is printed; `assumed` says which figures its model assumes.
    fn report(
        &mut self,
        name: &str,
        program: &Path,
        path: &Path,
        assumed: &BTreeMap<String, bool>,
    ) -> Result<(), String> {
        let text = output(program, ["report", "--full"].map(Path::new).into_iter().chain([path]))?;
        let file = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let file = ResultFile::read(&file).map_err(|error| format!("{}: {error}", path.display()))?;
        // A clock for which no cost is stated has that of the others.
        let is_assumed = |figure: &str| {
            let others = figure.starts_with("costs.").then_some("costs.other");
            assumed.get(figure).or_else(|| assumed.get(others?)).copied().unwrap_or_default()
        };
        for (about, what) in in_report(&file.findings, &String::from_utf8_lossy(&text), is_assumed) {
            self.note(name, &about, &what);
        }
        Ok(())
    }

    fn note(&mut self, shown: &str, finding: &str, what: &str) {
        self.wrong += 1;
        println!("{shown}: {finding}: {what}");
    }
}

/// Whether no publication states a figure, by path.
fn assumed(program: &Path, machine: &str) -> Result<BTreeMap<String, bool>, String> {
    let text = output(program, ["machines", machine, "--json"].map(Path::new).into_iter())?;
    let described: serde_json::Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let figures = described["figures"].as_array().ok_or_else(|| format!("{machine} has no figures"))?;
    let is_assumed = |figure: &serde_json::Value| figure["source_id"] == "assumed";
    Ok(figures.iter().filter_map(|figure| Some((figure["key"].as_str()?.to_owned(), is_assumed(figure)))).collect())
}

fn output<'a>(program: &Path, arguments: impl Iterator<Item = &'a Path>) -> Result<Vec<u8>, String> {
    let mut command = Command::new(program);
    command.args(arguments.map(Path::as_os_str));
    let ended = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
    match ended.status.success() {
        true => Ok(ended.stdout),
        false => Err(format!("{command:?}: {}\n{}", ended.status, String::from_utf8_lossy(&ended.stderr))),
    }
}

fn run<'a>(program: &Path, path: &Path, arguments: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(arguments).arg("--out").arg(path);
    let ended = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
    if ended.status.success() || ended.status.code() == Some(4) {
        return Ok(());
    }
    Err(format!("{command:?}: {}\n{}", ended.status, String::from_utf8_lossy(&ended.stderr)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_one_result_leaves_open_is_no_contradiction() {
        let result = |name: &str, settled: &[&str]| Largest {
            name: name.to_owned(),
            settled: settled.iter().map(|&name| name.to_owned()).collect(),
        };
        let found = result("sleep-grid", &["sleep-grid", "timer-slack"]);
        assert!(!found.contradicts(&found));
        assert!(!found.contradicts(&result("none", &["timer-slack"])), "undecided there");
        assert!(found.contradicts(&result("none", &["sleep-grid"])), "not found there");
        assert!(found.contradicts(&result("timer-slack", &["sleep-grid", "timer-slack"])));
        assert!(!result("timer-slack", &["timer-slack"]).contradicts(&found));
    }
}
