//! The steps of a suite: each runs with a time limit and a log, and the summary lists them.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

pub use xtask_tools::{run_limited, tail};

enum Outcome {
    Ok,
    Failed(String),
    Skipped(String),
}

struct Line {
    name: String,
    outcome: Outcome,
    took_s: u64,
}

/// The steps so far.
pub struct Report {
    logs: PathBuf,
    lines: Vec<Line>,
}

impl Report {
    /// A report with its logs in that directory.
    pub fn new(logs: PathBuf) -> Result<Report, String> {
        fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
        Ok(Report { logs, lines: Vec::new() })
    }

    /// Runs a command for at most that many minutes and logs its output; prints the log's end unless it succeeds. Exit codes
    /// in `fine` count as success. Returns whether it succeeded.
    pub fn step(&mut self, name: &str, minutes_max: u32, fine: &[i32], command: &Command) -> bool {
        println!("=== {name}");
        let begun = Instant::now();
        let log = self.logs.join(format!("{}.log", name.replace(|c: char| !c.is_ascii_alphanumeric(), "-")));
        let outcome = match run_limited(command, minutes_max, &log) {
            Ok(code) if fine.contains(&code) => Outcome::Ok,
            // A slow machine is no defect.
            _ if begun.elapsed() >= Duration::from_secs(60 * u64::from(minutes_max)) => {
                Outcome::Skipped(format!("it had not ended after {minutes_max} min"))
            }
            Ok(code) => Outcome::Failed(format!("exit code {code}")),
            Err(reason) => Outcome::Failed(reason),
        };
        let fine = matches!(outcome, Outcome::Ok);
        if !fine {
            println!("{}", tail(&log));
        }
        self.add(name, outcome, begun.elapsed().as_secs());
        fine
    }

    /// Runs a check in this process.
    pub fn check(&mut self, name: &str, check: impl FnOnce() -> Result<(), String>) {
        println!("=== {name}");
        let begun = Instant::now();
        let outcome = check().map_or_else(Outcome::Failed, |()| Outcome::Ok);
        self.add(name, outcome, begun.elapsed().as_secs());
    }

    /// Records a step that can't run here, with the reason.
    pub fn skip(&mut self, name: &str, reason: &str) {
        self.add(name, Outcome::Skipped(reason.to_owned()), 0);
    }

    fn add(&mut self, name: &str, outcome: Outcome, took_s: u64) {
        self.lines.push(Line { name: name.to_owned(), outcome, took_s });
        println!("{}", row(self.lines.last().expect("just added")));
    }

    /// Prints the summary. Exit code 0 where nothing failed.
    pub fn close(self) -> ExitCode {
        println!("\n=== summary");
        for line in &self.lines {
            println!("{}", row(line));
        }
        let failed = self.lines.iter().any(|line| matches!(line.outcome, Outcome::Failed(_)));
        if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

fn row(line: &Line) -> String {
    let (word, reason) = match &line.outcome {
        Outcome::Ok => ("ok", ""),
        Outcome::Failed(reason) => ("FAILED", reason.as_str()),
        Outcome::Skipped(reason) => ("SKIPPED", reason.as_str()),
    };
    let colon = if reason.is_empty() { "" } else { ": " };
    format!("{word:<8} {:>5} s  {}{colon}{reason}", line.took_s, line.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_succeeds_by_its_exit_code_and_a_skipped_one_is_no_failure() {
        let logs = std::env::temp_dir().join(format!("oversleep-proving-report-{}", std::process::id()));
        let mut report = Report::new(logs.clone()).unwrap();
        let exits = |code: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("echo said; exit {code}")]);
            command
        };
        assert!(report.step("fine", 1, &[0], &exits("0")));
        assert!(report.step("as good", 1, &[0, 4], &exits("4")));
        assert_eq!(tail(&logs.join("fine.log")), "said");
        let long = logs.join("long.log");
        fs::write(&long, format!("test a ... FAILED\nthread 'a' panicked at b.rs:1\nwhy\n{}", "x\n".repeat(999)))
            .unwrap();
        assert!(tail(&long).starts_with("test a ... FAILED\n") && tail(&long).contains("why\n"));
        report.skip("absent", "no such thing here");
        assert!(report.lines.iter().all(|line| !matches!(line.outcome, Outcome::Failed(_))));
        assert!(!report.step("bad", 1, &[0], &exits("3")));
        assert_eq!(row(report.lines.last().unwrap()), "FAILED       0 s  bad: exit code 3");
        fs::remove_dir_all(logs).unwrap();
    }
}
