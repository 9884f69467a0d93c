//! `cargo prove loom`: checks the latch of the library's clock under every interleaving of threads and memory accesses.
//! The package `loom/` compiles the library's own sources with loom's atomics; it has its own lock file, so that other
//! packages don't depend on loom.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Runs the suite. Exit code 0: no interleaving breaks the latch; 1: one does, and the output shows it.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    if let Some(unknown) = args.first() {
        return Err(format!("loom takes no arguments, not `{unknown}`"));
    }
    let mut run = Command::new("cargo");
    run.current_dir(root.join("loom"))
        .args(["run", "--quiet", "--locked", "--target-dir"])
        .arg(xtask_tools::target_directory(root).join("loom"));
    let status = run.env("RUSTFLAGS", "--cfg loom_latch").status().map_err(|e| format!("could not run cargo: {e}"))?;
    Ok(ExitCode::from(u8::from(!status.success())))
}
