//! The project's command, built as a chore needs it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Arguments of `cargo build` that build only the command of the packages named before, with the features that the tests of
/// these packages have: what the tests have built isn't built again. Only a target such as an example, which may use the
/// dependencies of tests, turns on their features.
pub const AS_TESTED: [&str; 4] = ["--bin", "oversleep", "--example", "truth"];

/// The path of the command as users get it.
///
/// # Errors
/// It doesn't build.
pub fn release(root: &Path) -> Result<PathBuf, String> {
    build(root, &["--release", "--package", "oversleep-cli"])?;
    Ok(target(root).join("release/oversleep"))
}

/// The path of the command as the tests run it.
///
/// # Errors
/// It doesn't build.
pub fn debug(root: &Path) -> Result<PathBuf, String> {
    build(root, &[["--workspace"].as_slice(), &AS_TESTED].concat())?;
    Ok(target(root).join("debug/oversleep"))
}

/// Cargo's target directory.
pub fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |path| root.join(path))
}

fn build(root: &Path, args: &[&str]) -> Result<(), String> {
    let status = Command::new(env!("CARGO")).current_dir(root).args(["build", "--quiet"]).args(args).status();
    match status.map_err(|error| format!("can't run cargo: {error}"))?.success() {
        true => Ok(()),
        false => Err("the command doesn't build".to_owned()),
    }
}
