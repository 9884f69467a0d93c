//! Every Rust file begins with its purpose and what belongs in it. Exempt are fixtures, which are data, and build
//! scripts, whose purpose is their name.

use super::Check;
use super::finding::Findings;
use crate::tree::Tree;

pub const CHECK: Check = Check { name: "module-head", about: "every .rs file begins with a //! head", run };

fn run(tree: &Tree, findings: &mut Findings) {
    for file in tree.rust_files() {
        let exempt = file.path.contains("/fixtures/") || file.path.rsplit('/').next() == Some("build.rs");
        let head = file.text.lines().find(|line| !line.trim().is_empty());
        let has_head = head.and_then(|line| line.strip_prefix("//!")).is_some_and(|text| text.trim().len() > 3);
        if !exempt && !has_head {
            findings.add(&file.path, 1, "no module head", "begin with `//!` and what the file is for");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    #[test]
    fn a_file_without_a_head_is_found() {
        for text in ["", "fn a() {}\n", "// Not a head.\n", "//!\n", "use a;\n//! Too late.\n"] {
            assert_eq!(found_by(&CHECK, &[("a.rs", text)]), ["a.rs:1: no module head"], "{text}");
        }
        assert!(found_by(&CHECK, &[("a.rs", "//! What it is for.\nfn a() {}\n")]).is_empty());
    }

    #[test]
    fn fixtures_build_scripts_and_other_files_need_none() {
        let none = "fn main() {}\n";
        assert!(found_by(&CHECK, &[("tests/fixtures/a.rs", none), ("b/build.rs", none), ("c.md", none)]).is_empty());
        assert_eq!(found_by(&CHECK, &[("b/rebuild.rs", none)]).len(), 1);
    }
}
