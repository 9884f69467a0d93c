//! A test that can't run here says so by `oversleep_testing::skip`: the harness hides what a passing test prints.

use super::Check;
use super::finding::Findings;
use super::test_code::TestCode;
use crate::tree::Tree;

pub const CHECK: Check = Check { name: "skips", about: "a test that can't run here says so past the harness", run };

fn run(tree: &Tree, findings: &mut Findings) {
    let tests = TestCode::of(tree);
    for file in tree.rust_files() {
        let (source, of_tests) = (file.source(), tests.lines(file));
        for (line, (code, literals)) in (1..).zip(source.code.lines().zip(source.literals.lines())) {
            let is_skip = code.contains("println!(") && literals.to_ascii_lowercase().contains("skip");
            if is_skip && of_tests.contain(line) {
                let remedy = "return `oversleep_testing::skip(reason)`";
                findings.add(&file.path, line, "the harness hides that this test was skipped", remedy);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    #[test]
    fn tests_do_not_print_that_they_are_skipped() {
        let printed = ["eprintln", "println"].map(|print| format!("fn f() {{\n    {print}!(\"SKIPPED: none\");\n}}\n"));
        for text in &printed {
            let found = found_by(&CHECK, &[("crates/a/tests/b.rs", text), ("crates/a/src/b.rs", text)]);
            assert_eq!(found, ["crates/a/tests/b.rs:2: the harness hides that this test was skipped"]);
        }
        let skips = "fn f() {\n    oversleep_testing::skip(\"none\");\n    println!(\"{}\", skip);\n}\n";
        assert!(found_by(&CHECK, &[("crates/a/tests/b.rs", skips)]).is_empty());
    }
}
