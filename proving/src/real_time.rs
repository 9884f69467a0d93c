//! `cargo prove real-time`: the tests that look at real time, which `cargo test` leaves out. Each runs up to three times and
//! holds if it passes once: a machine that stalls makes any of them fail. What fails each time is DISTURBED, with what the
//! test said last; a reader decides, not an exit code.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Test programs, and the tests in them.
const TESTS: &[(&str, &str)] = &[
    ("cli", "real_time::"),
    ("executors", "it_is_exact_where_tokio_rounds"),
    ("here", "real_time::"),
    ("platform", "sleeps_are_as_late_as_on_the_other_machine"),
    ("platform", "timeouts_end_on"),
    ("real", "a_stop_is_seen_in_its_round"),
    ("real", "throttling_is_what_the_kernel_counted"),
];
const TRIES: usize = 3;

/// Exit code 0: all ran; 2: they don't build.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    if let Some(unknown) = args.first() {
        return Err(format!("real-time takes no arguments, not `{unknown}`"));
    }
    for (program, filter) in TESTS {
        // `--workspace` keeps the features, and so what is built already.
        let run = || {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.current_dir(root).args(["test", "--quiet", "--workspace", "--test", program, "--"]);
            let output = cargo.args(["--ignored", "--test-threads=1", filter]).output();
            output.map_err(|error| format!("can't run cargo: {error}"))
        };
        println!("{}", judged(&format!("{program} {filter}"), || run().map(|output| passed(&output)))?);
    }
    Ok(ExitCode::SUCCESS)
}

/// How many tests ran, or what the program printed when one failed.
fn passed(output: &std::process::Output) -> Result<u32, String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let panicked: Vec<&str> = text.lines().skip_while(|line| !line.contains("panicked at")).take(4).collect();
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(if panicked.is_empty() { errors.trim().replace('\n', " ") } else { panicked.join(" ") });
    }
    let counts = text.split("test result: ok. ").skip(1).filter_map(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    Ok(counts.sum())
}

/// The line of one row.
fn judged(name: &str, run: impl Fn() -> Result<Result<u32, String>, String>) -> Result<String, String> {
    let mut last = String::new();
    for attempt in 1..=TRIES {
        match run()? {
            Ok(0) => return Err(format!("no test is named so any more: {name}")),
            Ok(count) => return Ok(format!("ok         {name}: {count} pass in run {attempt}")),
            Err(why) => last = why,
        }
    }
    Ok(format!("DISTURBED  {name}: {TRIES} runs, none passes; the last: {last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_three_runs_has_to_pass() {
        let line = |runs: &[Result<u32, &str>]| {
            let runs = std::cell::RefCell::new(runs.iter());
            judged("x", || Ok(runs.borrow_mut().next().expect("no more").map_err(str::to_owned)))
        };
        assert_eq!(line(&[Err("late"), Ok(2)]), Ok("ok         x: 2 pass in run 2".to_owned()));
        let disturbed = "DISTURBED  x: 3 runs, none passes; the last: c";
        assert_eq!(line(&[Err("a"), Err("b"), Err("c")]), Ok(disturbed.to_owned()));
        assert!(line(&[Ok(0)]).is_err());
    }
}
