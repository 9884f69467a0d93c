//! One module style: a module with submodules in files is `name/mod.rs`, never `name.rs` beside `name/`; and no path
//! uses `super` three times in a row, because `crate::` is clearer.

use super::Check;
use super::finding::Findings;
use crate::tree::Tree;

pub const CHECK: Check = Check {
    name: "module-style",
    about: "modules with files of their own are name/mod.rs; crate:: instead of super three times",
    run,
};

const CLIMBS_MAX: usize = 2;

fn run(tree: &Tree, findings: &mut Findings) {
    for file in tree.rust_files() {
        let directory = file.path.trim_end_matches(".rs");
        let is_program = ["/src/bin/", "/examples/", "/tests/", "/benches/"].iter().any(|part| {
            // A program may have a directory with its name: it is the root of another crate.
            file.path.rsplit_once(part).is_some_and(|(_, name)| !name.contains('/'))
        });
        let holds_rust = |name: &str| tree.rust_files().any(|other| other.path.starts_with(name));
        if !is_program && holds_rust(&format!("{directory}/")) {
            let remedy = format!("move it to {directory}/mod.rs");
            findings.add(&file.path, 1, format!("it is beside {directory}/"), remedy);
        }
        let tokens = &file.source().tokens;
        for i in 0..tokens.len() {
            let climbs =
                |from: usize| (0..).take_while(|n| file.source().reads(from + 2 * n, &["super", "::"])).count();
            let begins = i == 0 || !tokens[i - 1].is("::");
            if tokens[i].is("super") && begins && climbs(i) > CLIMBS_MAX {
                findings.add(&file.path, tokens[i].line, "a path that climbs three times", "begin it with `crate::`");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    #[test]
    fn a_file_beside_its_directory_is_found() {
        let files = [("x/src/a.rs", ""), ("x/src/a/b.rs", ""), ("x/src/a_more/c.rs", "")];
        assert_eq!(found_by(&CHECK, &files), ["x/src/a.rs:1: it is beside x/src/a/"]);
        for files in [
            [("x/src/a/mod.rs", ""), ("x/src/a/b.rs", "")],
            [("x/src/a.rs", ""), ("x/src/ab/b.rs", "")],
            [("x/src/a.rs", ""), ("x/src/a/figures.toml", "")],
            [("x/tests/a.rs", ""), ("x/tests/a/b.rs", "")],
        ] {
            assert!(found_by(&CHECK, &files).is_empty(), "{files:?}");
        }
    }

    #[test]
    fn climbing_three_times_is_found() {
        for (text, count) in [
            ("use super::super::super::a;", 1),
            ("fn f() { super::super::super::super::a() }", 1),
            ("use super::super::a;\nuse super::b;", 0),
            ("// super::super::super::a", 0),
        ] {
            assert_eq!(found_by(&CHECK, &[("x/src/a.rs", text)]).len(), count, "{text}");
        }
    }
}
