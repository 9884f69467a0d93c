//! Other engines over the same files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::{Options, Suite, run, trino};
use crate::report::Report;

/// The dialect, the module, its package at PyPI and the program that runs it of each engine.
const OF_PYTHON: [(&str, &str, &str, &str); 4] = [
    ("duckdb", "duckdb", "duckdb==2.0.1", "duckdb_run.py"),
    ("datafusion", "datafusion", "datafusion==55.0.0", "datafusion_run.py"),
    ("clickhouse", "chdb", "chdb==4.4.0", "chdb_run.py"),
    ("spark", "pyspark", "pyspark==4.3.0", "spark_run.py"),
];
/// How many of them are asked without `--all`.
const BRIEF: usize = 2;

/// What the hosts are grouped by; of some, one isn't known.
const BY: [&str; 5] = ["kernel", "cpu_model", "clocksource", "libc", "source"];

/// The query that the command prints beneath the views, once for each column of [`BY`].
fn queries(script: &str) -> Result<[String; BY.len()], String> {
    let begin = script.find("WITH m AS").ok_or("the command prints no query beneath the views")?;
    Ok(BY.map(|by| script[begin..].replace("kernel", by)))
}

pub(super) struct Engines<'a> {
    pub suite: &'a Suite<'a>,
    /// The programs that run an engine.
    pub readers: PathBuf,
}

impl Engines<'_> {
    /// Asks each engine, and holds its answers against the embedded one's.
    pub fn run(&self, options: &Options, report: &mut Report) -> Result<(), String> {
        let venv = self.suite.scratch.join("venv");
        let shown = if options.is_all { OF_PYTHON.len() } else { BRIEF };
        if options.is_fetching {
            run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
            let packages = OF_PYTHON[..shown].iter().map(|(_, _, package, _)| package);
            run(Command::new(venv.join("bin/pip")).args(["install", "--quiet"]).args(packages))?;
            if options.is_all {
                trino::fetch(&self.suite.scratch)?;
            }
        }
        let own = venv.join("bin/python");
        let python = if own.exists() { own } else { "python3".into() };
        let mut expected = String::new();
        report.check("the embedded engine", || {
            expected = self.embedded()?;
            Ok(())
        });
        for (engine, module, package, program) in &OF_PYTHON[..shown] {
            let name = format!("{package} answers as the embedded engine does");
            if run(Command::new(&python).args(["-c", &format!("import {module}")])).is_err() {
                report.skip(&name, &format!("python3 has no {module}; --fetch gets it"));
                continue;
            }
            report.check(&name, || {
                let script = self.readers.join(program);
                self.hold(engine, &expected, Command::new(&python).arg(script).arg(self.statements(engine)?))
            });
        }
        if options.is_all {
            let name = "Trino answers as the embedded engine does";
            match trino::Server::start(&self.suite.scratch) {
                Err(why) => report.skip(name, &why),
                Ok(server) => report.check(name, || {
                    let mut client = Command::new(&python);
                    client.arg(self.readers.join("trino_run.py")).arg(self.statements("trino")?).arg(server.address());
                    self.hold("trino", &expected, &mut client)
                }),
            }
        }
        Ok(())
    }

    /// What the command prints for an engine.
    fn script(&self, engine: &str) -> Result<String, String> {
        let folder = self.suite.folder("fleet").display().to_string();
        self.suite.oversleep(&["archive", "views", engine, "--dir", &folder])
    }

    /// What the embedded engine answers.
    fn embedded(&self) -> Result<String, String> {
        let ask = |query: &String| self.suite.oversleep(&["archive", "sql", "fleet", query, "--csv"]);
        let lines = |query| Ok(ask(query)?.replace("\r\n", "\n") + "\n");
        queries(&self.script("duckdb")?)?.iter().map(lines).collect()
    }

    /// The file with what an engine runs: its views and its query, as the command prints them.
    fn statements(&self, engine: &str) -> Result<PathBuf, String> {
        let script = self.script(engine)?;
        let views = &script[..script.find("WITH m AS").unwrap_or_default()];
        let path = self.suite.scratch.join(format!("{engine}.sql"));
        let text = format!("{views}\n{}", queries(&script)?.concat());
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    fn hold(&self, engine: &str, expected: &str, command: &mut Command) -> Result<(), String> {
        let begun = Instant::now();
        let found = run(command.current_dir(&self.suite.scratch))?;
        println!("{engine}: {} answers in {:.1} s", BY.len(), begun.elapsed().as_secs_f64());
        if found == expected && !expected.is_empty() {
            return Ok(());
        }
        let differs = expected.lines().zip(found.lines()).find(|(one, other)| one != other);
        let path = |name: &str| self.suite.scratch.join(name);
        let keep = |name: &str, text: &str| fs::write(path(name), text).map_err(|error| error.to_string());
        keep("embedded.out", expected)?;
        keep(&format!("{engine}.out"), found.as_str())?;
        Err(format!("{differs:?}; {} holds both", Path::new(&self.suite.scratch).display()))
    }
}
