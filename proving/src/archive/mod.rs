//! `cargo prove archive`: a simulated fleet of 1,000 hosts over a week goes into an archive. The page and three questions
//! find each planted difference and name no other, a fleet without differences has no finding, and other engines answer the
//! portable query byte by byte as the embedded one does. Forty hosts go in as result files, too, and their report is that of
//! their rows.
//!
//! DuckDB and DataFusion are asked; `--all` adds ClickHouse's engine (chDB), Spark and Trino, which take 1.4 GB. What
//! isn't installed is SKIPPED with the reason; `--fetch` installs it beside the build. `--hosts N` makes a smaller fleet,
//! `--binary PATH` tests another command, which has the feature `archive`, and `--engines` asks the engines alone, about the
//! fleet of the run before.

mod engines;
mod trino;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use serde_json::Value;

use crate::report::Report;
use engines::Engines;

/// What the command line says.
struct Options {
    is_all: bool,
    is_fetching: bool,
    is_engines: bool,
    hosts: u32,
    binary: Option<PathBuf>,
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options { is_all: false, is_fetching: false, is_engines: false, hosts: 1_000, binary: None };
    let mut args = args.iter();
    while let Some(one) = args.next() {
        match one.as_str() {
            "--all" => options.is_all = true,
            "--fetch" => options.is_fetching = true,
            "--engines" => options.is_engines = true,
            "--hosts" => {
                let number = args.next().and_then(|number| number.parse().ok());
                options.hosts = number.filter(|&hosts| hosts >= 100).ok_or("--hosts takes a number from 100 on")?;
            }
            "--binary" => options.binary = Some(PathBuf::from(args.next().ok_or("--binary takes a path")?)),
            other => {
                return Err(format!(
                    "archive takes --all, --fetch, --engines, --hosts N and --binary PATH, not `{other}`"
                ));
            }
        }
    }
    Ok(options)
}

/// Runs the suite. Exit code 0: everything that could be held is as it must be.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let options = options(args)?;
    let target = xtask_tools::target_directory(root);
    let scratch = target.join("archive");
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let program = match &options.binary {
        Some(binary) => binary.clone(),
        None => {
            cargo(root, &["build", "--quiet", "--package", "oversleep-cli", "--features", "archive"])?;
            target.join("debug/oversleep")
        }
    };
    let mut report = Report::new(scratch.join("logs"))?;
    let suite = Suite { root, program, scratch };
    if !options.is_engines {
        suite.run(&options, &mut report);
    }
    Engines { suite: &suite, readers: root.join("proving/archive") }.run(&options, &mut report)?;
    Ok(report.close())
}

/// Runs cargo in the project's workspace.
fn cargo(root: &Path, args: &[&str]) -> Result<(), String> {
    run(Command::new(env!("CARGO")).current_dir(root).args(args)).map(|_| ())
}

/// What the steps share.
struct Suite<'a> {
    root: &'a Path,
    program: PathBuf,
    scratch: PathBuf,
}

impl Suite<'_> {
    fn folder(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// What the command writes.
    fn oversleep(&self, args: &[&str]) -> Result<String, String> {
        let begun = Instant::now();
        let written = run(Command::new(&self.program).current_dir(&self.scratch).args(args))?;
        println!("oversleep {} ({:.1} s)", args.join(" "), begun.elapsed().as_secs_f64());
        Ok(written)
    }

    /// All but the engines.
    fn run(&self, options: &Options, report: &mut Report) {
        let hosts = options.hosts.to_string();
        report.check("the simulated fleet compiles", || self.compile());
        for (name, more) in [("fleet", [].as_slice()), ("null", &["--null"])] {
            report.check(&format!("{hosts} simulated hosts over a week: {name}"), || self.simulate(name, &hosts, more));
        }
        report.check("the report finds each planted difference and no other", || self.planted());
        report.check("the report of a fleet without differences has no finding", || self.null());
        report.check("result files through `archive add` say what the same rows say", || self.added());
        report.check("the page says the sentences of the report", || self.page());
        report.check("three questions show the planted differences", || self.questions());
    }

    /// As the tests of archives build it, so that nothing is compiled twice.
    fn compile(&self) -> Result<(), String> {
        let features = "oversleep-archive/archive,oversleep-archive/testing,oversleep-cli/archive,oversleep-cli/png";
        let example = ["--example", "simulated-fleet"];
        cargo(self.root, &[&["build", "--quiet", "--workspace", "--features", features], example.as_slice()].concat())
    }

    fn simulate(&self, name: &str, hosts: &str, more: &[&str]) -> Result<(), String> {
        let folder = self.folder(name);
        let _ = fs::remove_dir_all(&folder);
        let folder = folder.display().to_string();
        let program = xtask_tools::target_directory(self.root).join("debug/examples/simulated-fleet");
        run(Command::new(program).args([&folder, "--hosts", hosts]).args(more)).map(|said| print!("{said}"))
    }

    fn report(&self, folder: &str) -> Result<Vec<Value>, String> {
        let text = self.oversleep(&["archive", "report", folder, "--json"])?;
        let json: Value = serde_json::from_str(&text).map_err(|error| format!("the report: {error}"))?;
        let findings = json["findings"].as_array().cloned().unwrap_or_default();
        findings.iter().for_each(|finding| println!("  {} {}", finding["id"], finding["sentence"]));
        Ok(findings)
    }

    fn planted(&self) -> Result<(), String> {
        let found: Vec<String> = self.report("fleet")?.iter().map(place).collect();
        let planted = fs::read_to_string(self.scratch.join("fleet.planted")).map_err(|error| error.to_string())?;
        let planted: Vec<&str> = planted.lines().collect();
        match found == planted {
            true => Ok(()),
            false => Err(format!("planted {planted:?}, found {found:?}")),
        }
    }

    fn null(&self) -> Result<(), String> {
        match self.report("null")?.len() {
            0 => Ok(()),
            wrong => Err(format!("{wrong} findings without a difference")),
        }
    }

    /// Some hosts every six hours, written as rows and as result files: names of processors and kernels, and all that the
    /// report says, are the same on both ways.
    fn added(&self) -> Result<(), String> {
        let (results, added) = (self.folder("results"), self.folder("added"));
        [&results, &added].into_iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
        let to = results.display().to_string();
        self.simulate("rows", "40", &["--every", "6", "--results", &to])?;
        let files = fs::read_dir(&results).map_err(|error| format!("{to}: {error}"))?;
        let mut files: Vec<String> = files.flatten().map(|file| file.path().display().to_string()).collect();
        files.sort();
        let add = ["archive", "add", "added", "--quiet"].into_iter().chain(files.iter().map(String::as_str));
        run(Command::new(&self.program).current_dir(&self.scratch).args(add))?;
        let said = |folder: &str| -> Result<Value, String> {
            let text = self.oversleep(&["archive", "report", folder, "--json"])?;
            let mut json: Value = serde_json::from_str(&text).map_err(|error| format!("the report: {error}"))?;
            // A result has it in whole nanoseconds.
            let groups = json["groups"].as_array_mut().into_iter().flatten();
            groups.for_each(|group| group["steal_share"] = Value::Null);
            Ok(json)
        };
        let (rows, added) = (said("rows")?, said("added")?);
        let of_members = rows.as_object().into_iter().flatten();
        let other = of_members.filter(|(name, value)| added[name.as_str()] != **value).map(|(name, _)| name.as_str());
        let other: Vec<&str> = other.collect();
        let kinds = ["AMD EPYC 7B13", "6.1.0-28-cloud-amd64", "OVS-F003", "OVS-F004"];
        let text = added["findings"].to_string();
        match (other.as_slice(), kinds.iter().find(|kind| !text.contains(**kind))) {
            ([], None) => Ok(()),
            ([], Some(kind)) => Err(format!("no finding of result files has {kind}")),
            (other, _) => Err(format!("the report of result files has other {}", other.join(", "))),
        }
    }

    /// The page is one file that loads nothing, with every sentence.
    fn page(&self) -> Result<(), String> {
        self.oversleep(&["archive", "report", "fleet", "--html", "fleet.html", "--quiet"])?;
        let page = fs::read_to_string(self.scratch.join("fleet.html")).map_err(|error| error.to_string())?;
        // On a page, no line breaks between a number and its unit, and long names may break.
        let page = page.replace('\u{a0}', " ").replace("<wbr>", "");
        for finding in self.report("fleet")? {
            let sentence = finding["sentence"].as_str().unwrap_or_default();
            let escaped = sentence.replace('&', "&amp;").replace('<', "&lt;");
            if !page.contains(&escaped) {
                return Err(format!("the page lacks: {sentence}"));
            }
        }
        match page.contains("src=") || page.contains("@import") {
            true => Err("the page loads something".to_owned()),
            false => Ok(()),
        }
    }

    /// Each question shows the planted difference as its extreme: the hosts with steal, the host with another clock source,
    /// and the kernel that is later.
    fn questions(&self) -> Result<(), String> {
        let ask = |query: &str, filter: &str| -> Result<Vec<Vec<String>>, String> {
            let text = self.oversleep(&["archive", "query", "fleet", query, "--where", filter, "--csv"])?;
            let rows = text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect());
            Ok(rows.collect())
        };
        let nanosleep = "wait=nanosleep request=1ms";
        let steal = ask("steal by cpu_model", nanosleep)?;
        let stolen =
            steal.iter().filter(|row| row[1].parse::<f64>().is_ok_and(|share| share > 0.0)).collect::<Vec<_>>();
        is_only(&stolen, "Intel Xeon Platinum 8259CL")?;
        let clocks = ask("machines by clocksource", nanosleep)?;
        let odd: Vec<_> = clocks.iter().filter(|row| row[1] == "1").collect();
        is_only(&odd, "hpet")?;
        let kernels = ask("p50 by kernel", &format!("{nanosleep} cpu_model='Intel Xeon Platinum 8481C'"))?;
        let number = |row: &&Vec<String>| row[1].parse::<i64>().unwrap_or_default();
        let latest = kernels.iter().max_by_key(number).into_iter().collect::<Vec<_>>();
        is_only(&latest, "6.12.43-cloud-amd64")
    }
}

/// A finding's id with the host or the processor that it is about.
fn place(finding: &Value) -> String {
    let about = match finding["hosts"].as_array().filter(|hosts| !hosts.is_empty()) {
        Some(hosts) => hosts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        None => finding["kind"]["processor"].as_str().unwrap_or_default().to_owned(),
    };
    format!("{} {about}", finding["id"].as_str().unwrap_or_default())
}

fn is_only(rows: &[&Vec<String>], first: &str) -> Result<(), String> {
    match rows {
        [only] if only[0].trim_matches('"') == first => Ok(()),
        other => Err(format!("{first} alone should stand out: {other:?}")),
    }
}

/// The standard output of a program that succeeds.
fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("can't run {name}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&said);
            let end: Vec<&str> = text.trim().lines().rev().take(12).collect();
            Err(format!("{name}: {}", end.into_iter().rev().collect::<Vec<_>>().join("\n")))
        }
    }
}
