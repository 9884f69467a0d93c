//! A pure crate only computes: it starts no thread, opens no file, starts no process, reads no variable and no clock,
//! and prints nothing. So it runs in a browser, and the same input gives the same output. The carriers of modelled
//! threads are exempt, and so are tests.

use super::Check;
use super::finding::Findings;
use super::paths::{self, PathUse};
use super::test_code::TestCode;
use crate::arrows::{CARRIERS, is_in, is_pure};
use crate::tree::Tree;

pub const CHECK: Check =
    Check { name: "purity", about: "pure crates use no threads, files, processes, variables or clocks", run };

const SYSTEM: &[&[&str]] = &[
    &["std", "thread"],
    &["std", "fs"],
    &["std", "process"],
    &["std", "env"],
    &["std", "net"],
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["std", "time", "*"],
    &["std", "io", "stdin"],
    &["std", "io", "stdout"],
    &["std", "io", "stderr"],
];
const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln"];

fn run(tree: &Tree, findings: &mut Findings) {
    let tests = TestCode::of(tree);
    for file in tree.rust_files().filter(|file| is_pure(&file.path) && !is_in(&file.path, &[CARRIERS])) {
        let (source, tests) = (file.source(), tests.lines(file));
        for path in paths::uses(source, &[]).into_iter().filter(is_of_the_system) {
            if !tests.contain(path.line) {
                let what = format!("`{}` in a pure crate", path.segments.join("::"));
                findings.add(&file.path, path.line, what, "take it from the caller, or from the platform");
            }
        }
        for (i, token) in source.tokens.iter().enumerate() {
            let prints = PRINTING.contains(&token.text.as_str()) && source.reads(i + 1, &["!"]);
            if prints && !tests.contain(token.line) {
                let what = format!("`{}!` in a pure crate", token.text);
                findings.add(&file.path, token.line, what, "return the text; the command prints it");
            }
        }
    }
}

fn is_of_the_system(path: &PathUse) -> bool {
    SYSTEM.iter().any(|start| {
        path.segments.len() >= start.len() && path.segments.iter().zip(*start).all(|(segment, part)| segment == part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    const PATH: &str = "crates/oversleep-explain/src/a.rs";

    #[test]
    fn what_touches_the_machine_is_found() {
        for text in [
            "use std::thread;",
            "use std::time::{Duration, Instant};",
            "fn f() { std::fs::read(\"a\"); }",
            "fn f() { std::env::var(\"A\"); }",
            "use std::time::*;",
            "fn f() { println!(\"a\"); }",
        ] {
            assert_eq!(found_by(&CHECK, &[(PATH, text)]).len(), 1, "{text}");
            for place in ["crates/oversleep-cli/src/a.rs", &format!("{CARRIERS}a.rs"), "xtask/src/a.rs"] {
                assert!(found_by(&CHECK, &[(place, text)]).is_empty(), "{place}: {text}");
            }
        }
    }

    #[test]
    fn tests_strings_and_spans_are_fine() {
        for text in [
            "use std::time::Duration;\nuse std::io::Write;",
            "const A: &str = \"std::thread::sleep\"; // std::fs",
            "#[cfg(test)]\nmod tests {\n    use std::fs;\n    fn f() { println!(\"a\") }\n}\n",
        ] {
            assert!(found_by(&CHECK, &[(PATH, text)]).is_empty(), "{text}");
        }
        let root = ("crates/oversleep-explain/src/lib.rs", "#[cfg(test)]\nmod a;\n");
        assert!(found_by(&CHECK, &[root, (PATH, "use std::fs;")]).is_empty());
    }
}
