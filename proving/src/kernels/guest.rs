//! The output of a machine: its log, and the results, parsed as in every other command.

use std::path::PathBuf;

use oversleep_explain::consistency::contradictions;
use oversleep_record::environment::FactValue;
use oversleep_record::finding::{Finding, Severity, Verdict};
use oversleep_record::{FactName, Nanos, ResultFile, Series};

/// The files from a machine.
pub struct Guest {
    pub directory: PathBuf,
}

/// The result of a machine's `check`, unless an expectation names another.
const CHECK: &str = "check.json";

impl Guest {
    /// A text file; empty if it isn't there.
    pub fn text(&self, name: &str) -> String {
        let bytes = std::fs::read(self.directory.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The result with that name.
    pub fn result(&self, name: &str) -> Result<ResultFile, String> {
        let bytes = std::fs::read(self.directory.join(name)).map_err(|_| format!("there is no {name}"))?;
        ResultFile::read(&bytes).map_err(|error| format!("{name}: {error}"))
    }

    /// Whether the log has this line, which records the end of a command of the script.
    pub fn logged(&self, line: &str) -> Result<(), String> {
        let log = self.text("log");
        if log.lines().any(|logged| logged == line) { Ok(()) } else { Err(format!("the log says {:?}", log.trim())) }
    }

    /// Whether a text file contains these words.
    pub fn prints(&self, name: &str, words: &str) -> Result<(), String> {
        let text = self.text(name);
        if text.contains(words) { Ok(()) } else { Err(format!("{name} says {:?}", text.trim())) }
    }

    /// Whether a text file has a line with this beginning and these words.
    pub fn line(&self, name: &str, begins: &str, words: &str) -> Result<(), String> {
        let text = self.text(name);
        match text.lines().find(|line| line.starts_with(begins)) {
            Some(line) if line.contains(words) => Ok(()),
            Some(line) => Err(format!("{name} says {line:?}")),
            None => Err(format!("{name} has no line {begins:?}: {:?}", text.trim())),
        }
    }

    /// Whether a text file exists without these words.
    pub fn lacks(&self, name: &str, words: &str) -> Result<(), String> {
        let text = self.text(name);
        let lines = text.lines().find(|line| line.contains(words));
        match lines {
            _ if text.is_empty() => Err(format!("there is no {name}")),
            Some(line) => Err(format!("{name} says {line:?}")),
            None => Ok(()),
        }
    }

    /// Whether that result has this verdict, in a sentence that contains all of these words.
    fn is_in(&self, name: &str, verdict: Verdict, id: &str, words: &[&str]) -> Result<(), String> {
        let result = self.result(name)?;
        let finding = result.findings.iter().find(|finding| finding.id == id);
        let finding = finding.ok_or_else(|| format!("{name} doesn't list {id}"))?;
        if finding.verdict == verdict && words.iter().all(|word| finding.sentence.contains(word)) {
            return Ok(());
        }
        Err(format!("{id} is {:?}: {}", finding.verdict, finding.sentence))
    }

    /// Whether the check found it, with these words.
    pub fn found(&self, id: &str, words: &[&str]) -> Result<(), String> {
        self.is_in(CHECK, Verdict::Found, id, words)
    }

    /// Whether that result found it, with these words.
    pub fn found_in(&self, name: &str, id: &str, words: &[&str]) -> Result<(), String> {
        self.is_in(name, Verdict::Found, id, words)
    }

    /// Whether the library's clock agreed with the system's within this limit over the check.
    pub fn clocks_agree_within(&self, limit: Nanos) -> Result<(), String> {
        let floor = self.result(CHECK)?.floor.ok_or("the check has no floor")?;
        let compared = floor.cross_check.ok_or("no other clock was compared")?;
        let apart = Nanos(compared.difference_ns.0.abs()).max(compared.uncertainty_ns);
        if apart < limit { Ok(()) } else { Err(format!("they agreed within {apart}")) }
    }

    /// The contradictions in the results of this machine.
    pub fn contradictions(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name.ends_with(".json"));
        names.sort();
        let in_file = |name: &String| match self.result(name) {
            Ok(result) => {
                contradictions(&result).into_iter().map(|(id, what)| format!("{name}: {id}: {what}")).collect()
            }
            Err(why) => vec![why],
        };
        names.iter().flat_map(in_file).collect()
    }

    /// Whether it was checked and not found.
    pub fn absent(&self, id: &str) -> Result<(), String> {
        self.is_in(CHECK, Verdict::NotFound, id, &[])
    }

    /// Whether it was not found, for any reason.
    pub fn not_found(&self, id: &str) -> Result<(), String> {
        match self.found(id, &[]) {
            Ok(()) => Err(format!("{id} is found")),
            Err(_) => self.result(CHECK).map(drop),
        }
    }

    /// Whether the check finds no faults, or only these.
    pub fn faults_only(&self, ids: &[&str]) -> Result<(), String> {
        let result = self.result(CHECK)?;
        let is_fault = |finding: &&Finding| {
            finding.verdict == Verdict::Found
                && finding.severity == Severity::Fault
                && !ids.contains(&finding.id.as_str())
        };
        let wrong: Vec<String> =
            result.findings.iter().filter(is_fault).map(|fault| format!("{}: {}", fault.id, fault.sentence)).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }

    /// Whether a fact of the check has this value.
    pub fn fact(&self, name: FactName, is: &FactValue) -> Result<(), String> {
        let result = self.result(CHECK)?;
        let fact = result.environment.known(name);
        if fact == Some(is) { Ok(()) } else { Err(format!("{name} is {fact:?}")) }
    }

    /// Whether the median of a series of that result is in this range.
    pub fn median(&self, name: &str, key: &str, from: Nanos, to: Nanos) -> Result<(), String> {
        self.figure(name, key, |series| series.distribution.p50().map(Nanos), from, to)
    }

    /// Whether its longest value is in this range.
    pub fn longest(&self, name: &str, key: &str, from: Nanos, to: Nanos) -> Result<(), String> {
        self.figure(name, key, |series| series.distribution.max().map(Nanos), from, to)
    }

    fn figure(
        &self,
        name: &str,
        key: &str,
        figure: fn(&Series) -> Option<Nanos>,
        from: Nanos,
        to: Nanos,
    ) -> Result<(), String> {
        let result = self.result(name)?;
        let series = result.series.iter().find(|series| series.key == key);
        let series = series.ok_or_else(|| format!("{name} has no {key}"))?;
        match figure(series) {
            Some(value) if (from..=to).contains(&value) => Ok(()),
            value => Err(format!("{key} is {}", value.map_or("not measured".to_owned(), |value| value.to_string()))),
        }
    }
}
