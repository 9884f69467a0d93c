//! Crates depend on one another one way only, as [`CRATES`] says: read from each `crates/*/Cargo.toml`.

use super::Check;
use super::arrows::CRATES;
use super::finding::Findings;
use super::manifest;
use super::tree::Tree;

pub const CHECK: Check =
    Check { name: "crate-arrows", about: "each crate depends only on what arrows.rs lets it", run };

fn run(tree: &Tree, findings: &mut Findings) {
    for file in tree.files() {
        if !(file.path.starts_with("crates/") && file.path.ends_with("/Cargo.toml")) {
            continue;
        }
        let Some(package) = manifest::package_name(&file.text) else {
            findings.add(&file.path, 1, "no package name", "give `[package]` a `name`");
            continue;
        };
        let Some(arrows) = CRATES.iter().find(|arrows| arrows.name == package) else {
            findings.add(
                &file.path,
                1,
                format!("`{package}` has no arrows"),
                "say what it may depend on in CRATES in xtask/src/tidy/arrows.rs",
            );
            continue;
        };
        for dependency in manifest::dependencies(&file.text) {
            let name = dependency.name.as_str();
            let ours = name == "oversleep" || name.starts_with("oversleep-");
            let allowed = if ours {
                arrows.ours.contains(&name)
            } else {
                dependency.dev || arrows.others.is_none_or(|others| others.contains(&name))
            };
            if !allowed || arrows.never.contains(&name) {
                findings.add(
                    &file.path,
                    dependency.line,
                    format!("`{package}` may not depend on `{name}`"),
                    "move the code that needs it to the crate that may, or change the arrows in xtask/src/tidy/arrows.rs",
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::said;

    fn manifest(package: &str, rest: &str) -> Vec<String> {
        let text = format!("[package]\nname = \"{package}\"\n{rest}");
        said(&CHECK, &[("crates/any/Cargo.toml", &text)])
    }

    #[test]
    fn the_library_takes_nothing_along() {
        assert!(manifest("oversleep", "[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n").is_empty());
        assert!(manifest("oversleep", "[dev-dependencies]\nproptest = \"1\"\n").is_empty());
        assert_eq!(
            manifest("oversleep", "[dependencies]\nserde = \"1\"\n"),
            ["crates/any/Cargo.toml:4: `oversleep` may not depend on `serde`"]
        );
        assert_eq!(manifest("oversleep", "[dev-dependencies]\noversleep-lab.workspace = true\n").len(), 1);
    }

    #[test]
    fn arrows_go_one_way() {
        assert!(manifest("oversleep-cli", "[dependencies]\noversleep-lab.workspace = true\n").is_empty());
        assert_eq!(manifest("oversleep-record", "[dependencies]\noversleep-lab.workspace = true\n").len(), 1);
        assert_eq!(manifest("oversleep-lab", "[dependencies]\noversleep-cli.workspace = true\n").len(), 1);
        assert_eq!(manifest("oversleep-cli", "[dependencies]\noversleep.workspace = true\n").len(), 1);
        assert_eq!(manifest("oversleep-cli", "[target.x.dependencies]\nlibc.workspace = true\n").len(), 1);
        assert_eq!(manifest("oversleep-cli", "[dev-dependencies]\nnix = \"1\"\n").len(), 1);
    }

    #[test]
    fn a_new_crate_needs_arrows() {
        assert_eq!(manifest("oversleep-new", ""), ["crates/any/Cargo.toml:1: `oversleep-new` has no arrows"]);
    }
}
