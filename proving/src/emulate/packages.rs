//! Suites of Python's network frameworks, which wait in threads, processes and event loops, from a virtual environment
//! that has them (`--path`): each test has the same verdict as alone, under every command that runs a program.

use std::cell::RefCell;
use std::process::{Command, Stdio};

use super::suites::{is_suite_fine, python_line};
use super::{Bench, Verdict};

struct Package {
    name: &'static str,
    /// What Python runs.
    words: &'static [&'static str],
    line: fn(&str) -> Option<(String, String)>,
}

const PACKAGES: &[Package] = &[
    Package { name: "tornado", words: &["-m", "tornado.test", "--verbose"], line: python_line },
    Package {
        name: "twisted",
        words: &["-m", "twisted.trial", "--reporter=bwverbose", "twisted.internet", "twisted.test", "twisted.python"],
        line: trial_line,
    },
];
const MODES: &[&str] = &[
    "run -q --slack 1ns --",
    "run -q --lock-memory --",
    "emulate -q linux-hz250 --",
    "untraced emulate -q windows-10-1909 --",
    "why -q --by supervisor --out r.out --",
];

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    let Some(python) = bench.path.as_ref().map(|path| path.join("bin/python")).filter(|python| python.exists()) else {
        return Ok(Verdict::Skipped);
    };
    let output = |mode: &str, words: &[&str]| -> Result<String, String> {
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 2>&1", "sh"]).args(bench.words(mode)?).arg(&python).args(words);
        let output = command.current_dir(&bench.folder).stdin(Stdio::null()).output();
        Ok(String::from_utf8_lossy(&output.map_err(|error| format!("sh: {error}"))?.stdout).into_owned())
    };
    let mut is_fine = true;
    let mut are_some = false;
    for Package { name, words, line } in PACKAGES.iter().filter(|package| bench.wants("packages", package.name)) {
        let natively = output("", words)?;
        for mode in MODES {
            let once = RefCell::new(Some(natively.clone()));
            let alone = || once.take().map_or_else(|| output("", words), Ok);
            println!("{mode}");
            are_some |= is_suite_fine(name, *line, &alone, &|| output(mode, words), &mut is_fine)?;
        }
    }
    Ok(match (are_some, is_fine) {
        (false, _) => Verdict::Skipped,
        (true, true) => Verdict::Holds,
        (true, false) => Verdict::Fails,
    })
}

/// `twisted.test.test_x.Tests.test_y ... [OK]`.
fn trial_line(line: &str) -> Option<(String, String)> {
    let (test, verdict) = line.split_once(" ... ")?;
    let verdict = verdict.trim().strip_prefix('[')?.split(']').next()?;
    test.starts_with("twisted.").then(|| (test.to_owned(), verdict.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_of_trial_is_read() {
        let of = |test: &str, verdict: &str| Some((test.to_owned(), verdict.to_owned()));
        assert_eq!(trial_line("twisted.a.B.test_c ... [OK]"), of("twisted.a.B.test_c", "OK"));
        assert_eq!(trial_line("twisted.a.B.test_c ... [SKIPPED]"), of("twisted.a.B.test_c", "SKIPPED"));
        assert_eq!(trial_line("twisted.a.B.test_c ... "), None);
    }
}
