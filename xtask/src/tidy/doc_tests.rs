//! A library whose documentation has examples has them run by `cargo test`, and no other one keeps rustdoc busy: it reads
//! the whole library before it finds that there is nothing to run, a few seconds for each.

use super::Check;
use super::finding::Findings;
use super::manifest;
use crate::tree::Tree;

pub const CHECK: Check =
    Check { name: "doc-tests", about: "`doctest = false` says that a library's documentation has no examples", run };

fn run(tree: &Tree, findings: &mut Findings) {
    for file in tree.files() {
        // Fuzz targets need another toolchain, and nothing tests them.
        let directory = file.path.strip_suffix("/Cargo.toml").filter(|&directory| directory != "fuzz");
        let Some(directory) = directory else { continue };
        if tree.get(&format!("{directory}/src/lib.rs")).is_none() {
            continue;
        }
        let sources = format!("{directory}/src/");
        let has_examples =
            tree.rust_files().any(|file| file.path.starts_with(&sources) && file.text.lines().any(is_example));
        match (has_examples, manifest::runs_examples(&file.text)) {
            (true, false) => {
                let remedy = "remove `doctest = false` from `[lib]`";
                findings.add(&file.path, 1, "the examples in its documentation are not run", remedy);
            }
            (false, true) => {
                let remedy = "give `[lib]` the line `doctest = false`";
                findings.add(&file.path, 1, "rustdoc looks for examples in documentation without any", remedy);
            }
            _ => {}
        }
    }
}

/// A fence in documentation, or a file that is taken in as documentation.
fn is_example(line: &str) -> bool {
    let line = line.trim_start();
    let documentation = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
    documentation.is_some_and(|text| text.trim_start().starts_with("```")) || line.contains("doc = include_str!")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    fn library(manifest: &str, source: &str) -> Vec<String> {
        found_by(&CHECK, &[("crates/any/Cargo.toml", manifest), ("crates/any/src/lib.rs", source)])
    }

    const SILENT: &str = "[lib]\ndoctest = false\n";

    #[test]
    fn examples_are_run_and_nothing_is_looked_for_in_vain() {
        let example = "/// ```\n/// assert!(true);\n/// ```\npub fn any() {}\n";
        assert!(library("", example).is_empty());
        assert!(library(SILENT, "/// A function.\npub fn any() {}\n").is_empty());
        assert_eq!(library(SILENT, example).len(), 1);
        assert_eq!(library("[lib]\n", "// ```\npub fn any() {}\n").len(), 1);
        assert_eq!(library(SILENT, "#![doc = include_str!(\"../README.md\")]\n").len(), 1);
    }

    #[test]
    fn a_program_has_no_examples() {
        assert!(found_by(&CHECK, &[("xtask/Cargo.toml", ""), ("xtask/src/main.rs", "fn main() {}\n")]).is_empty());
    }
}
