//! What the compiler can build for, and where Cargo builds.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::prerequisites::{Prerequisites, quietly};

/// Makes sure that the toolchain in use can build for a target; asks rustup for it if it can't.
///
/// # Errors
/// Why it can't.
pub fn can_build_for(target: &str, prerequisites: &Prerequisites) -> Result<(), String> {
    if has_standard_library(target) {
        return Ok(());
    }
    if !prerequisites.may_install() {
        return Err(format!("run `rustup target add {target}`"));
    }
    if quietly(Command::new("rustup").args(["target", "add", target])) && has_standard_library(target) {
        return Ok(());
    }
    Err(format!("`rustup target add {target}` failed"))
}

/// Whether the toolchain in use has the target's standard library.
fn has_standard_library(target: &str) -> bool {
    let printed = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    let Ok(output) = printed else { return false };
    let directory = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success() && std::fs::read_dir(directory).is_ok_and(|mut files| files.next().is_some())
}

/// Cargo's target directory, which both workspaces share.
pub fn target_directory(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |path| root.join(path))
}
