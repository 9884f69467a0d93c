//! `cargo prove exchange`: what leaves oversleep is read by the programs that it is for. HdrHistogram's own
//! HistogramLogProcessor (Java) and hdrh (Python) read an exported log of many series, and have p50 and p99 of each as the
//! result has them; Python's XML parser reads JUnit's file. What isn't installed is SKIPPED with the reason; `--fetch`
//! installs it beside the build. `--binary PATH` tests another command.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use oversleep_record::{ResultFile, hdr_log};

use crate::built;

/// Values, p50 and p99 in ns by tag.
type Figures = BTreeMap<String, [u64; 3]>;

/// HdrHistogram's version, as Maven names its file.
const JAR: &str = "org/hdrhistogram/HdrHistogram/2.2.2/HdrHistogram-2.2.2.jar";

/// Runs the suite. Exit code 0: everything that could be read was read as it is.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let (mut is_fetching, mut binary) = (false, None);
    let mut args = args.iter();
    while let Some(one) = args.next() {
        match one.as_str() {
            "--fetch" => is_fetching = true,
            "--binary" => binary = Some(PathBuf::from(args.next().ok_or("--binary takes a path")?)),
            other => return Err(format!("exchange takes --fetch and --binary PATH, not `{other}`")),
        }
    }
    let program = binary.map_or_else(|| built::debug(root), Ok)?;
    let scratch = xtask_tools::target_directory(root).join("exchange");
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let suite = Suite { program, readers: root.join("proving/exchange"), scratch };
    if is_fetching {
        suite.fetch()?;
    }
    let log = suite.logs()?;
    let junit = suite.junit()?;
    Ok(if log && junit { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Suite {
    program: PathBuf,
    /// The readers of other languages.
    readers: PathBuf,
    scratch: PathBuf,
}

impl Suite {
    fn fetch(&self) -> Result<(), String> {
        let version = JAR.split('/').nth(3).unwrap_or_default();
        let artifact = format!("-Dartifact=org.hdrhistogram:HdrHistogram:{version}");
        run(Command::new("mvn").args(["--batch-mode", "--quiet", "dependency:get", &artifact]))?;
        let venv = self.scratch.join("venv");
        run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        run(Command::new(venv.join("bin/pip")).args(["install", "--quiet", "hdrhistogram==0.10.8"])).map(|_| ())
    }

    fn python(&self) -> Command {
        let own = self.scratch.join("venv/bin/python");
        Command::new(if own.exists() { own } else { "python3".into() })
    }

    fn oversleep(&self, args: &[&str], codes: &[i32]) -> Result<String, String> {
        let output = Command::new(&self.program).current_dir(&self.scratch).args(args).output();
        let output = output.map_err(|error| format!("{}: {error}", self.program.display()))?;
        match output.status.code() {
            Some(code) if codes.contains(&code) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            _ => Err(format!("oversleep {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// Holds what others read of a log against the result. Returns whether all agree.
    fn logs(&self) -> Result<bool, String> {
        let check = ["check", "--quick", "--on", "linux-hz250", "--quiet", "--out", "r.json"];
        self.oversleep(&check, &[0])?;
        // No modelled wait is early; these are.
        let sleep =
            |us: i64| format!("Resolution: 0.5000ms, Sleep(1) slept {}ms (delta: 0)\n", (1_000 + us) as f64 / 1e3);
        let text: String = (-40..80).map(sleep).collect();
        fs::write(self.scratch.join("early.txt"), text).map_err(|error| format!("early.txt: {error}"))?;
        self.oversleep(&["export", "early.txt", "--to", "json=early.json"], &[0])?;
        let mut is_same = true;
        for (result, log) in [("r.json", "r.hlog"), ("early.json", "early.hlog")] {
            self.oversleep(&["export", result, "--to", &format!("hlog={log}")], &[0])?;
            let bytes = fs::read(self.scratch.join(result)).map_err(|error| format!("{result}: {error}"))?;
            let file = ResultFile::read(&bytes).map_err(|error| format!("{result}: {error}"))?;
            let expected = figures(&file);
            for (name, read) in [("HistogramLogProcessor", self.by_java(log)), ("hdrh", self.by_python(log))] {
                match read {
                    Err(why) => println!("SKIPPED: {name} reads {log}: {why}"),
                    Ok(text) => is_same &= compare(&format!("{name}, {log}"), &expected, &parsed(&text)?),
                }
            }
        }
        Ok(is_same)
    }

    fn by_java(&self, log: &str) -> Result<String, String> {
        let repository = std::env::home_dir().ok_or("there is no home directory")?.join(".m2/repository");
        let jar = repository.join(JAR);
        if !jar.exists() {
            return Err(format!("{} is missing; --fetch gets it", jar.display()));
        }
        let mut java = Command::new("java");
        java.arg("-cp").arg(jar).arg(self.readers.join("ReadLog.java"));
        run(java.arg(self.scratch.join(log)).arg(self.scratch.join("java.out")))
    }

    fn by_python(&self, log: &str) -> Result<String, String> {
        run(self.python().args(["-c", "import hdrh"]))
            .map_err(|_| "python3 has no hdrh; --fetch gets it".to_owned())?;
        run(self.python().arg(self.readers.join("read_log.py")).arg(self.scratch.join(log)))
    }

    /// Has each verdict written as JUnit's XML, with names that XML has to escape, and holds the cases against the verdicts.
    fn junit(&self) -> Result<bool, String> {
        let rules = "a&b<c>'s.assert";
        let lines =
            "nanosleep(1ms).p50 < 1s\nnanosleep(1ms).p50 < 1us\nseries(B5/nano*/1ms).p99 < 1s\ncpu.count != \"two\"\n";
        fs::write(self.scratch.join(rules), lines).map_err(|error| format!("{rules}: {error}"))?;
        let assert = ["assert", "r.json", "--file", rules, "--junit", "r.xml", "--json"];
        let json: serde_json::Value =
            serde_json::from_str(&self.oversleep(&assert, &[3])?).map_err(|error| format!("verdicts: {error}"))?;
        let read = match run(self.python().arg(self.readers.join("read_junit.py")).arg(self.scratch.join("r.xml"))) {
            Err(why) if self.python().arg("--version").output().is_err() => {
                println!("SKIPPED: an XML parser reads JUnit's file: {why}");
                return Ok(true);
            }
            read => read?,
        };
        let of = |one: &serde_json::Value| {
            let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
            format!("{}\t{rules}\t{} ({})", text("verdict"), text("assertion"), text("about"))
        };
        let expected: Vec<String> = json["assertions"].as_array().into_iter().flatten().map(of).collect();
        let found: Vec<&str> = read.lines().collect();
        let is_same = found == expected && expected.len() >= 4;
        println!("JUnit: {} cases, {}", found.len(), if is_same { "as the verdicts are" } else { "WRONG" });
        if !is_same {
            println!("{expected:#?}\n{found:#?}");
        }
        Ok(is_same)
    }
}

/// What a log has of each series in ns: values from zero up under its tag, and magnitudes of those below under another.
fn figures(file: &ResultFile) -> Figures {
    let mut all = Figures::new();
    for series in file.series.iter().filter(|series| series.unit == oversleep_record::series::Unit::Ns) {
        let tag = hdr_log::tag(&series.key);
        let (early, late): (Vec<_>, Vec<_>) = series.distribution.buckets().partition(|(value, _)| *value < 0);
        let mut early: Vec<(i64, u64)> = early.into_iter().map(|(value, count)| (-value, count)).collect();
        early.reverse();
        for (tag, buckets) in [(hdr_log::early_tag(&tag), early), (tag, late)] {
            let total: u64 = buckets.iter().map(|(_, count)| count).sum();
            if total > 0 {
                let at = |share: u64| at_rank(&buckets, (total * share).div_ceil(100));
                all.insert(tag, [total, at(50), at(99)]);
            }
        }
    }
    all
}

fn at_rank(buckets: &[(i64, u64)], rank: u64) -> u64 {
    let mut before = 0;
    let reached = buckets.iter().find(|(_, count)| {
        before += count;
        before >= rank
    });
    reached.map_or(0, |(value, _)| value.unsigned_abs())
}

fn parsed(text: &str) -> Result<Figures, String> {
    let row = |line: &str| {
        let mut words = line.split('\t');
        let tag = words.next()?.to_owned();
        let mut number = || words.next()?.trim_end_matches(".000").parse().ok();
        Some((tag, [number()?, number()?, number()?]))
    };
    text.lines().map(|line| row(line).ok_or_else(|| format!("a reader printed `{line}`"))).collect()
}

fn compare(name: &str, expected: &Figures, read: &Figures) -> bool {
    let is_same = expected == read && !expected.is_empty();
    println!(
        "{name}: {} of {} series read, {}",
        read.len(),
        expected.len(),
        if is_same { "all alike" } else { "WRONG" }
    );
    for (tag, figures) in expected.iter().filter(|(tag, figures)| read.get(*tag) != Some(figures)) {
        println!("  {tag}: {figures:?}, read as {:?}", read.get(tag));
    }
    is_same
}

/// The standard output of a program that succeeds.
fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("can't run {name}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = [output.stdout, output.stderr].concat();
            Err(format!("{name}: {}", String::from_utf8_lossy(&said).trim()))
        }
    }
}
