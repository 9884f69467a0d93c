//! `cargo xtask tidy`: the rules of the source tree, as a program.
//!
//! There is one check per file, with its reason and its tests, and one row in [`CHECKS`]. A check reads a [`Tree`] in
//! memory and reports [`Finding`]s; it never touches the disk, so its tests can show it failing. The allowed
//! dependencies, and the places that may depend on the operating system, are data in `arrows.rs`.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::tree::Tree;
use finding::{Finding, Findings};

mod call_tables;
mod circles;
mod crate_arrows;
mod doc_links;
mod doc_tests;
mod docs;
mod finding;
mod imports;
mod layout;
mod length;
mod manifest;
mod module_head;
mod module_style;
mod os_calls;
mod os_seam;
mod paths;
mod prose;
mod publishable;
mod purity;
mod room_arrows;
mod skips;
mod test_code;
mod unsafe_code;
mod words;

/// One rule of the tree.
struct Check {
    name: &'static str,
    about: &'static str,
    run: fn(&Tree, &mut Findings),
}

const CHECKS: &[Check] = &[
    crate_arrows::CHECK,
    room_arrows::CHECK,
    circles::CHECK,
    os_seam::CHECK,
    purity::CHECK,
    unsafe_code::CHECK,
    length::CHECK,
    module_head::CHECK,
    module_style::CHECK,
    words::CHECK,
    layout::CHECK,
    imports::CHECK,
    doc_links::CHECK,
    doc_tests::CHECK,
    publishable::CHECK,
    skips::CHECK,
    os_calls::CHECK,
    docs::CHECK,
];

/// Runs the chore. Exit code 0: tidy; 1: findings. An `Err` is a usage or read error.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let (mut update, mut fix) = (false, false);
    for arg in args {
        match arg.as_str() {
            "--update" => update = true,
            "--fix" => fix = true,
            "--list" => {
                for check in CHECKS {
                    println!("{:<13} {}", check.name, check.about);
                }
                return Ok(ExitCode::SUCCESS);
            }
            other => return Err(format!("tidy takes --fix, --update and --list, not `{other}`")),
        }
    }
    if fix {
        fix_imports(root)?;
    }
    if update {
        update_ratchet(root)?;
    }
    let tree = Tree::read(root)?;
    let findings = run(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    println!(
        "tidy: {} files, {} checks, {}",
        tree.len(),
        CHECKS.len(),
        match findings.len() {
            0 => "nothing to report".to_owned(),
            1 => "1 finding".to_owned(),
            n => format!("{n} findings"),
        }
    );
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Puts the imports of every file in groups, and has `rustfmt` sort each group.
fn fix_imports(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root)?;
    let mut paths = Vec::new();
    for (file, text) in tree.rust_files().filter_map(|file| Some((file, imports::fixed(file)?))) {
        let path = root.join(&file.path);
        std::fs::write(&path, text).map_err(|e| format!("could not write {}: {e}", path.display()))?;
        paths.push(path);
    }
    println!("{} files: imports put in groups", paths.len());
    if !paths.is_empty() {
        let sorted = Command::new("rustfmt").args(["--edition", "2024"]).args(&paths).status();
        let sorted = sorted.map_err(|e| format!("could not run rustfmt: {e}"))?;
        return if sorted.success() { Ok(()) } else { Err("rustfmt failed; run `cargo fmt`".to_owned()) };
    }
    Ok(())
}

fn update_ratchet(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root)?;
    let Some(lowered) = length::lowered(&tree) else { return Ok(()) };
    let path = root.join(length::RATCHET);
    std::fs::write(&path, lowered).map_err(|e| format!("could not write {}: {e}", path.display()))?;
    println!("{}: lowered to the current lengths", length::RATCHET);
    Ok(())
}

/// Runs every check on the whole tree. Returns all findings at once, in the order of the files.
fn run(tree: &Tree) -> Vec<Finding> {
    let mut findings = Findings::default();
    for check in CHECKS {
        findings.check = check.name;
        (check.run)(tree, &mut findings);
    }
    findings.sorted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let tree = Tree::read(&crate::project_root()).expect("the project's files can be read");
        assert!(tree.rust_files().any(|file| file.path == "xtask/src/main.rs"), "read the wrong directory");
        let findings = run(&tree);
        let list: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(list.is_empty(), "{} findings; `cargo xtask tidy` prints them too:\n{}", list.len(), list.join("\n"));
    }

    #[test]
    fn checks_have_distinct_names_and_a_description() {
        for (i, check) in CHECKS.iter().enumerate() {
            assert!(!check.about.is_empty());
            assert!(CHECKS[i + 1..].iter().all(|other| other.name != check.name), "{} twice", check.name);
        }
    }

    #[test]
    fn findings_of_all_checks_come_together_in_order() {
        let tree = Tree::of(&[
            ("crates/oversleep-record/src/b.rs", "fn b() {}\n"),
            ("crates/oversleep-record/src/a.rs", "//! A.\nfn a() {}\t\n"),
        ]);
        let found = run(&tree);
        let seen: Vec<_> = found.iter().map(|f| (f.path.as_str(), f.check)).collect();
        assert!(seen.contains(&("crates/oversleep-record/src/b.rs", "module-head")));
        assert!(seen.contains(&("crates/oversleep-record/src/a.rs", "layout")));
        assert!(seen.is_sorted_by_key(|(path, _)| path.to_owned()));
    }
}
