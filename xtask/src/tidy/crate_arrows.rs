//! The dependencies between crates follow [`CRATES`](crate::arrows::CRATES), and a pure crate forbids `unsafe`. Found
//! from each `crates/*/Cargo.toml` and the crate's root.

use super::Check;
use super::finding::Findings;
use super::manifest;
use crate::arrows::{CARRIERS, FOR_TESTS, is_native, rules_of};
use crate::tree::Tree;

pub const CHECK: Check =
    Check { name: "crate-arrows", about: "each crate depends only on what arrows.rs lets it", run };

const TABLE: &str = "xtask/src/arrows/mod.rs";

fn run(tree: &Tree, findings: &mut Findings) {
    for file in tree.files() {
        let Some(directory) = file.path.strip_suffix("/Cargo.toml").filter(|path| path.starts_with("crates/")) else {
            continue;
        };
        let Some(package) = manifest::package_name(&file.text) else {
            findings.add(&file.path, 1, "no package name", "give `[package]` a `name`");
            continue;
        };
        let Some(rules) = rules_of(&package) else {
            let remedy = format!("add it to CRATES in {TABLE}, with what it may depend on");
            findings.add(&file.path, 1, format!("`{package}` has no arrows"), remedy);
            continue;
        };
        for dependency in manifest::dependencies(&file.text) {
            let name = dependency.name.as_str();
            let is_ours = name == "oversleep" || name.starts_with("oversleep-");
            let is_optional = dependency.is_optional && rules.optional.contains(&name);
            let is_allowed = if is_ours {
                let in_tests =
                    dependency.dev && (rules.ours_in_tests.contains(&name) || name == package || name == FOR_TESTS);
                rules.ours.contains(&name) || in_tests || is_optional
            } else {
                let is_native = rules.is_pure && is_native(name);
                let is_listed = rules.others.is_none_or(|others| others.contains(&name));
                dependency.dev || is_optional || (!is_native && is_listed)
            };
            if !is_allowed || rules.never.contains(&name) {
                findings.add(
                    &file.path,
                    dependency.line,
                    format!("`{package}` may not depend on `{name}`"),
                    format!("move the code that needs it to a crate that may, or change the table in {TABLE}"),
                );
            }
        }
        let root = format!("{directory}/src/lib.rs");
        // The stacks of modelled threads need `unsafe`.
        let may_be_unsafe = CARRIERS.starts_with(&format!("{directory}/"));
        let forbids = |text: &str| text.contains("#![forbid(unsafe_code)]");
        if rules.is_pure && !may_be_unsafe && tree.get(&root).is_some_and(|root| !forbids(&root.text)) {
            findings.add(&root, 1, "a pure crate that allows `unsafe`", "add `#![forbid(unsafe_code)]`");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    fn manifest(package: &str, rest: &str) -> Vec<String> {
        let text = format!("[package]\nname = \"{package}\"\n{rest}");
        found_by(&CHECK, &[("crates/any/Cargo.toml", &text)])
    }

    #[test]
    fn the_library_takes_nothing_along() {
        assert!(manifest("oversleep", "[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n").is_empty());
        assert!(manifest("oversleep", "[dev-dependencies]\nproptest = \"1\"\n").is_empty());
        assert_eq!(
            manifest("oversleep", "[dependencies]\nserde = \"1\"\n"),
            ["crates/any/Cargo.toml:4: `oversleep` may not depend on `serde`"]
        );
        assert!(manifest("oversleep", "[dependencies]\nserde = { version = \"1\", optional = true }\n").is_empty());
        assert_eq!(manifest("oversleep", "[dependencies]\nrand = { version = \"1\", optional = true }\n").len(), 1);
        assert_eq!(manifest("oversleep", "[dev-dependencies]\noversleep-lab.workspace = true\n").len(), 1);
        assert!(
            manifest("oversleep", "[dependencies]\noversleep-rtkit = { workspace = true, optional = true }\n")
                .is_empty()
        );
        assert_eq!(manifest("oversleep", "[dependencies]\noversleep-rtkit.workspace = true\n").len(), 1);
    }

    #[test]
    fn arrows_go_one_way() {
        assert!(manifest("oversleep-cli", "[dependencies]\noversleep-lab.workspace = true\n").is_empty());
        for (package, dependency) in [
            ("oversleep-record", "oversleep-lab"),
            ("oversleep-lab", "oversleep-cli"),
            ("oversleep-explain", "oversleep-measure"),
            ("oversleep-model", "oversleep-native"),
            ("oversleep-cli", "oversleep"),
        ] {
            let found = manifest(package, &format!("[dependencies]\n{dependency}.workspace = true\n"));
            assert_eq!(found.len(), 1, "{package} → {dependency}");
        }
        assert_eq!(manifest("oversleep-cli", "[target.x.dependencies]\nlibc.workspace = true\n").len(), 1);
        assert_eq!(manifest("oversleep-cli", "[dev-dependencies]\nnix = \"1\"\n").len(), 1);
    }

    #[test]
    fn tests_may_use_more_where_the_table_says_so() {
        let native = |table: &str| format!("[{table}]\noversleep-native.workspace = true\n");
        assert!(manifest("oversleep-measure", &native("dev-dependencies")).is_empty());
        assert_eq!(manifest("oversleep-measure", &native("dependencies")).len(), 1);
        assert_eq!(manifest("oversleep-explain", &native("dev-dependencies")).len(), 1);
        assert!(manifest("oversleep-record", "[dev-dependencies]\noversleep-record = { path = \".\" }\n").is_empty());
    }

    #[test]
    fn pure_crates_have_no_native_dependency_and_forbid_unsafe() {
        for name in ["libc", "ctrlc", "terminal_size", "raw-cpuid"] {
            assert_eq!(manifest("oversleep-report", &format!("[dependencies]\n{name} = \"1\"\n")).len(), 1, "{name}");
        }
        assert!(manifest("oversleep-native", "[dependencies]\nlibc = \"1\"\nraw-cpuid = \"1\"\n").is_empty());
        let root = |package: &str, text: &str| {
            let manifest = format!("[package]\nname = \"{package}\"\n");
            let (directory, file) = (format!("crates/{package}/Cargo.toml"), format!("crates/{package}/src/lib.rs"));
            found_by(&CHECK, &[(&directory, &manifest), (&file, text)])
        };
        assert!(root("oversleep-explain", "//! A.\n#![forbid(unsafe_code)]\n").is_empty());
        assert_eq!(root("oversleep-explain", "//! A.\n").len(), 1);
        assert!(root("oversleep-model", "//! A.\n").is_empty() && root("oversleep-native", "//! A.\n").is_empty());
    }

    #[test]
    fn a_new_crate_needs_arrows() {
        assert_eq!(manifest("oversleep-new", ""), ["crates/any/Cargo.toml:1: `oversleep-new` has no arrows"]);
    }
}
