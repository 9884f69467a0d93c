//! Test suites of other projects: each test has the same verdict as without emulation, on the same day.

use std::collections::BTreeMap;

use super::{Bench, Verdict};

/// Packages of Go's standard library, and modules of CPython's tests.
const GO: &[&str] = &["sync", "context", "io", "os/signal", "os/exec", "syscall", "time", "net", "net/http"];
const PYTHON: &[&str] = &[
    "test_queue",
    "test_select",
    "test_selectors",
    "test_epoll",
    "test_subprocess",
    "test_signal",
    "test_threading",
    "test_socket",
    "test_asyncio",
];
/// So many of each run without `--all`.
const FEW: usize = 2;
/// Tests that may have another verdict, with the reason.
const MAY_DIFFER: &[(&str, &str)] = &[
    ("test_epoll test_control_and_wait", "it asserts time: a wait of 10 ms takes at most 10 ms more"),
    (
        "net/http TestLinuxSendfile",
        "it looks at itself with strace, which can't trace an emulated program, and leaves out itself",
    ),
];

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    let (mut is_fine, mut are_some) = (true, false);
    let wanted = |suites: &[&'static str]| -> Vec<&'static str> {
        let all = if bench.is_whole || bench.is_named("suites") { suites.len() } else { FEW };
        suites[..all].iter().copied().filter(|suite| bench.wants("suites", suite)).collect()
    };
    let runner = format!("{} emulate {} --", bench.command.display(), super::MACHINE);
    for package in wanted(GO) {
        let words = |exec: &[&str]| -> Vec<String> {
            let test = ["go", "test", "-count=1", "-v", "-short"].iter().chain(exec).chain([&package]);
            test.map(|&word| word.to_owned()).collect()
        };
        let alone = || bench.output(None, &words(&[]));
        let emulated = || bench.output(None, &words(&["-exec", &runner]));
        are_some |= is_suite_fine(package, go_line, &alone, &emulated, &mut is_fine)?;
    }
    for module in wanted(PYTHON) {
        // Sockets of virtual machines wait for a host for ever where there is none.
        let script = "exec python3 -m test -v --timeout 600 --ignore '*VSOCK*' \"$0\" 2>&1";
        let typed = ["sh", "-c", script, module].map(str::to_owned);
        let alone = || bench.output(None, &typed);
        let emulated = || bench.output(Some(&[]), &typed);
        are_some |= is_suite_fine(module, python_line, &alone, &emulated, &mut is_fine)?;
    }
    Ok(if !are_some {
        Verdict::Skipped
    } else if is_fine {
        Verdict::Holds
    } else {
        Verdict::Fails
    })
}

pub(super) type Verdicts = BTreeMap<String, String>;

/// Runs a suite alone and emulated; whether there is one. What differs is run once more both ways, because some tests fail
/// now and then by themselves: what differs again counts.
pub(super) fn is_suite_fine(
    suite: &str,
    line: fn(&str) -> Option<(String, String)>,
    alone: &dyn Fn() -> Result<String, String>,
    emulated: &dyn Fn() -> Result<String, String>,
    is_fine: &mut bool,
) -> Result<bool, String> {
    let pair = || -> Result<[Verdicts; 2], String> { Ok([verdicts(&alone()?, line), verdicts(&emulated()?, line)]) };
    let [native, other] = pair()?;
    let mut differ = differing(suite, &native, &other);
    let (mut listed, mut once) = (Vec::new(), Vec::new());
    differ.retain(|(name, words)| match MAY_DIFFER.iter().find(|(listed, _)| listed == name) {
        Some((_, why)) => {
            listed.push(format!("  {words}, because {why}"));
            false
        }
        None => true,
    });
    if !differ.is_empty() {
        let [native, other] = pair()?;
        let again = differing(suite, &native, &other);
        differ.retain(|(name, words)| {
            let does = again.iter().any(|(other, _)| other == name);
            if !does {
                once.push(format!("  {words}; the same in another run"));
            }
            does
        });
    }
    println!("{suite}: {} tests, {} differ", native.len(), differ.len());
    listed.iter().chain(&once).chain(differ.iter().map(|(_, words)| words)).for_each(|line| println!("{line}"));
    *is_fine &= differ.is_empty();
    Ok(!native.is_empty())
}

/// Tests whose verdict isn't that of the native run: their names, and what differs.
fn differing(suite: &str, native: &Verdicts, emulated: &Verdicts) -> Vec<(String, String)> {
    let differ = native.iter().filter_map(|(test, verdict)| {
        let other = emulated.get(test).map_or("didn't run", String::as_str);
        let name = format!("{suite} {}", test.split(' ').next().unwrap_or_default());
        let words = format!("{name}: {verdict} alone, {other} emulated");
        (other != verdict).then_some((name, words))
    });
    differ.collect()
}

fn verdicts(text: &str, line: fn(&str) -> Option<(String, String)>) -> Verdicts {
    text.lines().filter_map(line).collect()
}

/// `--- PASS: TestOnce (0.00s)`.
fn go_line(line: &str) -> Option<(String, String)> {
    let (verdict, rest) = line.trim().strip_prefix("--- ")?.split_once(": ")?;
    Some((rest.split(' ').next()?.to_owned(), verdict.to_owned()))
}

/// `test_put (test.test_queue.QueueTest.test_put) ... ok`.
pub(super) fn python_line(line: &str) -> Option<(String, String)> {
    let (test, verdict) = line.split_once(" ... ")?;
    let verdict = verdict.split_whitespace().next()?.trim_matches(|letter: char| !letter.is_ascii_alphabetic());
    test.starts_with("test").then(|| (test.to_owned(), verdict.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_each_test_that_may_differ_with_its_reason() {
        let page = include_str!("../../../docs/emulation.md");
        for (test, why) in MAY_DIFFER {
            let row = page.lines().find(|line| line.contains(&format!("`{test}`")));
            assert!(row.is_some_and(|row| row.contains(why)), "{test}: {why}");
        }
    }

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
        assert_eq!(differing("suite", &of("ok"), &of("ok")), []);
        for other in [of("FAIL"), BTreeMap::new()] {
            assert_eq!(differing("suite", &of("ok"), &other)[0].0, "suite test_a");
        }
    }

    #[test]
    fn what_differs_counts_if_it_differs_again() {
        let fine = |runs: [&str; 4]| {
            let runs = std::cell::RefCell::new(
                runs.iter().rev().map(|run| format!("--- {run}: TestA (0.00s)")).collect::<Vec<_>>(),
            );
            let next = || Ok(runs.borrow_mut().pop().unwrap_or_default());
            let mut is_fine = true;
            assert_eq!(is_suite_fine("suite", go_line, &next, &next, &mut is_fine), Ok(true));
            is_fine
        };
        assert!(fine(["PASS", "PASS", "", ""]));
        assert!(fine(["PASS", "FAIL", "PASS", "PASS"]));
        assert!(!fine(["PASS", "FAIL", "PASS", "FAIL"]));
    }
}
