//! Systems without a collector.

use std::process::ExitCode;

pub fn main() -> ExitCode {
    println!("SKIPPED: the ground truth of why needs Linux");
    ExitCode::SUCCESS
}
