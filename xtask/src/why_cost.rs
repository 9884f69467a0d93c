//! Measures the cost of following a program, and checks that no loss is uncounted: attribution beside busy CPUs, the
//! overhead per wake-up alternated with `perf trace`, CPU time, a minute at the highest rate, a replay, 10,000 threads.
//! It needs root on Linux, a release build and five minutes.

use std::path::Path;
use std::process::ExitCode;

use crate::why_truth;

pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let all = ["cost".to_owned()];
    why_truth::run(root, &["--release"], if args.is_empty() { &all } else { args })
}
