//! The report of a check: where, what is wrong, and what to do about it. All three are required.

use std::fmt;

/// One broken rule at one place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    pub what: String,
    pub remedy: String,
    pub check: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} — {} [{}]", self.path, self.line, self.what, self.remedy, self.check)
    }
}

/// The findings so far, under the check that is running.
#[derive(Debug, Default)]
pub struct Findings {
    pub check: &'static str,
    list: Vec<Finding>,
}

impl Findings {
    pub fn add(&mut self, path: &str, line: usize, what: impl Into<String>, remedy: impl Into<String>) {
        let (what, remedy) = (what.into(), remedy.into());
        self.list.push(Finding { path: path.to_owned(), line, what, remedy, check: self.check });
    }

    pub fn sorted(mut self) -> Vec<Finding> {
        self.list.sort();
        self.list
    }
}

/// Runs one check on the given files and returns its findings as `path:line: what`.
#[cfg(test)]
pub fn found_by(check: &super::Check, files: &[(&str, &str)]) -> Vec<String> {
    let mut findings = Findings { check: check.name, ..Findings::default() };
    (check.run)(&crate::tree::Tree::of(files), &mut findings);
    findings.sorted().iter().map(|f| format!("{}:{}: {}", f.path, f.line, f.what)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_as_place_what_remedy() {
        let mut findings = Findings { check: "layout", ..Findings::default() };
        findings.add("b.rs", 2, "tab", "use spaces");
        findings.add("a.rs", 9, "tab", "use spaces");
        findings.add("a.rs", 1, "tab", "use spaces");
        let text: Vec<String> = findings.sorted().iter().map(ToString::to_string).collect();
        assert_eq!(text[0], "a.rs:1: tab — use spaces [layout]");
        assert!(text[1].starts_with("a.rs:9:") && text[2].starts_with("b.rs:2:"));
    }
}
