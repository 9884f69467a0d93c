//! The project's command, built as a suite needs it, and the programs of this workspace.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask_tools::target_directory;

/// Arguments of `cargo build` that build only the command of the packages named before, with the features that the tests of
/// these packages have: what the tests have built isn't built again. Only a target such as an example, which may use the
/// dependencies of tests, turns on their features.
pub const AS_TESTED: [&str; 4] = ["--bin", "oversleep", "--example", "game_loop"];

/// The test that writes the page of a fleet where `OVERSLEEP_FLEET_PAGE` says.
const FLEET_PAGE: &str = "the_page_and_the_terminal_say_the_same_sentences";

/// The path of the command as users get it.
///
/// # Errors
/// It doesn't build.
pub fn release(root: &Path) -> Result<PathBuf, String> {
    build(root, &["--release", "--package", "oversleep-cli"])?;
    Ok(target_directory(root).join("release/oversleep"))
}

/// The path of the command as the tests run it.
///
/// # Errors
/// It doesn't build.
pub fn debug(root: &Path) -> Result<PathBuf, String> {
    build(root, &[["--workspace"].as_slice(), &AS_TESTED].concat())?;
    Ok(target_directory(root).join("debug/oversleep"))
}

/// Writes the page of a simulated fleet, which a test of the page makes: the command as tests have it reads no archives.
///
/// # Errors
/// It doesn't build, or the test fails.
pub fn fleet_page(root: &Path, page: &Path) -> Result<(), String> {
    let mut test = Command::new(env!("CARGO"));
    test.current_dir(root).args(["test", "--quiet", "--workspace", "--lib", FLEET_PAGE]).stdout(Stdio::null());
    let status =
        test.env("OVERSLEEP_FLEET_PAGE", page).status().map_err(|error| format!("can't run cargo: {error}"))?;
    match status.success() && page.is_file() {
        true => Ok(()),
        false => Err(format!("the test {FLEET_PAGE} wrote no page")),
    }
}

/// The arguments of cargo that name a program of this workspace, to run or to build it.
pub fn program_here(root: &Path, name: &str) -> Vec<String> {
    let manifest = root.join("proving/Cargo.toml").display().to_string();
    let target = target_directory(root).display().to_string();
    ["--manifest-path", &manifest, "--target-dir", &target, "--package", name].map(str::to_owned).to_vec()
}

fn build(root: &Path, args: &[&str]) -> Result<(), String> {
    let status = Command::new(env!("CARGO")).current_dir(root).args(["build", "--quiet"]).args(args).status();
    match status.map_err(|error| format!("can't run cargo: {error}"))?.success() {
        true => Ok(()),
        false => Err("the command doesn't build".to_owned()),
    }
}
