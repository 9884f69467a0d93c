//! Test suites of other projects: each test has the same verdict as without emulation, on the same day.

use std::collections::BTreeMap;

use super::{Bench, Verdict};

/// Packages of Go's standard library, and modules of CPython's tests.
const GO: &[&str] = &["sync", "context", "os/exec", "os/signal", "io", "net", "net/http", "time", "syscall"];
const PYTHON: &[&str] = &[
    "test.test_subprocess",
    "test.test_queue",
    "test.test_select",
    "test.test_selectors",
    "test.test_epoll",
    "test.test_threading",
    "test.test_signal",
    "test.test_socket",
    "test.test_asyncio.test_events",
];
/// Tests that assert real time, each with an assertion that a tick of 15.6 ms can't meet.
const ASSERT_TIME: &[(&str, &str)] =
    &[("test.test_epoll test_control_and_wait", "a wait of 10 ms takes at most 10 ms more")];

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    let (go, python) = if bench.is_whole { (GO, PYTHON) } else { (&GO[..2], &PYTHON[1..3]) };
    let (mut is_fine, mut are_some) = (true, false);
    let own = bench.command.display().to_string();
    let runner = format!("{own} emulate {} --", super::MACHINE);
    for package in go {
        let words = |exec: &[&str]| -> Vec<String> {
            ["go", "test", "-count=1", "-v", "-short"]
                .iter()
                .chain(exec)
                .chain([package])
                .map(|&word| word.to_owned())
                .collect()
        };
        let native = verdicts(&bench.output(None, &words(&[]))?, go_line);
        let emulated = verdicts(&bench.output(None, &words(&["-exec", &runner]))?, go_line);
        are_some |= !native.is_empty();
        is_fine &= same(package, &native, &emulated);
    }
    for module in python {
        let typed: Vec<String> =
            ["sh", "-c", "exec python3 -m unittest -v \"$0\" 2>&1", module].map(str::to_owned).into();
        let native = verdicts(&bench.output(None, &typed)?, python_line);
        let emulated = verdicts(&bench.output(Some(&[]), &typed)?, python_line);
        are_some |= !native.is_empty();
        is_fine &= same(module, &native, &emulated);
    }
    Ok(if !are_some {
        Verdict::Skipped
    } else if is_fine {
        Verdict::Holds
    } else {
        Verdict::Fails
    })
}

fn same(suite: &str, native: &BTreeMap<String, String>, emulated: &BTreeMap<String, String>) -> bool {
    let mut differ = Vec::new();
    for (test, verdict) in native {
        let other = emulated.get(test).map_or("didn't run", String::as_str);
        if other != verdict {
            let name = format!("{suite} {}", test.split(' ').next().unwrap_or_default());
            match ASSERT_TIME.iter().find(|(listed, _)| *listed == name) {
                Some((_, why)) => {
                    println!("  {name}: {verdict} alone, {other} emulated, because it asserts time: {why}")
                }
                None => differ.push(format!("  {name}: {verdict} alone, {other} emulated")),
            }
        }
    }
    println!("{suite}: {} tests, {} differ", native.len(), differ.len());
    differ.iter().for_each(|line| println!("{line}"));
    differ.is_empty()
}

fn verdicts(text: &str, line: fn(&str) -> Option<(String, String)>) -> BTreeMap<String, String> {
    text.lines().filter_map(line).collect()
}

/// `--- PASS: TestOnce (0.00s)`.
fn go_line(line: &str) -> Option<(String, String)> {
    let (verdict, rest) = line.trim().strip_prefix("--- ")?.split_once(": ")?;
    Some((rest.split(' ').next()?.to_owned(), verdict.to_owned()))
}

/// `test_put (test.test_queue.QueueTest.test_put) ... ok`.
fn python_line(line: &str) -> Option<(String, String)> {
    let (test, verdict) = line.split_once(" ... ")?;
    let verdict = verdict.split_whitespace().next()?.trim_matches(|letter: char| !letter.is_ascii_alphabetic());
    test.starts_with("test").then(|| (test.to_owned(), verdict.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read_from_both() {
        let pair = |test: &str, verdict: &str| Some((test.to_owned(), verdict.to_owned()));
        assert_eq!(go_line("    --- FAIL: TestPool/sub (0.01s)"), pair("TestPool/sub", "FAIL"));
        assert_eq!(go_line("=== RUN   TestPool"), None);
        assert_eq!(python_line("test_a (x.Y.test_a) ... ok"), pair("test_a (x.Y.test_a)", "ok"));
        assert_eq!(python_line("test_b (x.Y.test_b) ... skipped 'no'"), pair("test_b (x.Y.test_b)", "skipped"));
        assert_eq!(python_line("Ran 3 tests ... in"), None);
    }

    #[test]
    fn a_test_that_has_another_verdict_is_found() {
        let of = |verdict: &str| BTreeMap::from([("test_a (x)".to_owned(), verdict.to_owned())]);
        assert!(same("suite", &of("ok"), &of("ok")));
        assert!(!same("suite", &of("ok"), &of("FAIL")));
        assert!(!same("suite", &of("ok"), &BTreeMap::new()));
    }
}
