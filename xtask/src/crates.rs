//! `cargo xtask crates`: checks what the crates are built from. Each pure crate is resolved and compiled for
//! WebAssembly, so that results can be explained and modelled machines run in a browser. `tidy` compares the manifests
//! with the same table; this chore asks Cargo, which knows the transitive dependencies.

use std::path::Path;
use std::process::{Command, ExitCode};

use xtask_tools::{Prerequisites, can_build_for};

use crate::arrows::{self, CrateRules, pure_crates, rules_of};

const TARGET: &str = "wasm32-unknown-unknown";

/// Runs the chore. Exit code 0: all crates are fine, or the target can't be installed here; 1: a crate is not pure.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let may_install = match args {
        [] => true,
        [one] if one == "--no-install" => false,
        _ => return Err(format!("crates takes --no-install, not `{}`", args.join(" "))),
    };
    if let Err(reason) = can_build_for(TARGET, &Prerequisites::new(may_install)) {
        println!("SKIPPED: crates for {TARGET}: {reason}");
        return Ok(ExitCode::SUCCESS);
    }
    let mut faults = Vec::new();
    for rules in pure_crates() {
        faults.extend(wrong_in(rules, &built_from(root, rules.name)?));
    }
    for fault in &faults {
        println!("{fault}");
    }
    let mut check = cargo(root, "check");
    pure_crates().for_each(|rules| _ = check.args(["-p", rules.name]));
    let compiles = check.status().map_err(|e| format!("could not run cargo: {e}"))?.success();
    if compiles && faults.is_empty() {
        println!("crates: {} crates compile for {TARGET} without a native dependency", pure_crates().count());
        return Ok(ExitCode::SUCCESS);
    }
    if !compiles {
        println!("crates: a pure crate doesn't compile for {TARGET}; move what needs the system to oversleep-native");
    }
    Ok(ExitCode::from(1))
}

fn cargo(root: &Path, verb: &str) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root).args([verb, "--quiet", "--target", TARGET]);
    command
}

/// The packages that a crate is built from for the target, itself included.
fn built_from(root: &Path, package: &str) -> Result<Vec<String>, String> {
    let mut tree = cargo(root, "tree");
    tree.args(["--edges", "normal", "--prefix", "none", "--format", "{p}", "-p", package]);
    let output = tree.output().map_err(|e| format!("could not run cargo: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo tree -p {package}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
}

/// The faults in the dependencies of a pure crate.
fn wrong_in(rules: &CrateRules, packages: &[String]) -> Vec<String> {
    let is_native = |name: &str| {
        arrows::is_native(name) || name != arrows::ALGORITHM && rules_of(name).is_some_and(|rules| !rules.is_pure)
    };
    let mut wrong: Vec<&str> = packages.iter().map(String::as_str).filter(|name| is_native(name)).collect();
    wrong.sort_unstable();
    wrong.dedup();
    let fault = |name| {
        let way = format!("`cargo tree --target {TARGET} -p {} -i {name}` shows the way", rules.name);
        format!("{} is built with {name}, which is native: {way}", rules.name)
    };
    wrong.into_iter().map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_packages_are_named_once_with_the_way_to_them() {
        let rules = rules_of("oversleep-report").unwrap();
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(wrong_in(rules, &names(&["oversleep-report", "oversleep-record", "serde", "anstyle"])).is_empty());
        let wrong = wrong_in(rules, &names(&["oversleep-report", "libc", "libc", "oversleep-capi", "serde"]));
        assert_eq!(wrong.len(), 2);
        assert!(wrong[0].starts_with("oversleep-report is built with libc, which is native: `cargo tree "));
    }

    #[test]
    fn cargo_lists_what_a_crate_is_built_from() {
        let packages = built_from(&crate::project_root(), "oversleep-system").unwrap();
        assert!(packages.iter().any(|name| name == "oversleep-record"), "{packages:?}");
        assert!(!packages.iter().any(|name| name == "proptest"), "tests don't count");
    }
}
