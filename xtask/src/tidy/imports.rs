//! Imports are in groups: the standard library, other crates, this crate, then re-exports, with an empty line between two
//! groups. Inside a group, `cargo fmt` sorts. A run of imports ends at anything else, so `mod` lines stay where they are.

use super::Check;
use super::finding::Findings;
use crate::rust::Source;
use crate::tree::{File, Tree};

pub const CHECK: Check = Check {
    name: "imports",
    about: "imports in groups: the standard library, other crates, this crate, re-exports",
    run,
};

/// Programs that tests compare with a patch, line by line.
const PATCHED: &str = "examples/ports/";

/// Whether the check reports anything. `cargo xtask tidy --fix` sorts in any case.
const IS_ON: bool = true;

fn run(tree: &Tree, findings: &mut Findings) {
    if IS_ON {
        check(tree, findings);
    }
}

fn check(tree: &Tree, findings: &mut Findings) {
    for file in tree.rust_files() {
        let Some(fixed) = fixed(file) else { continue };
        let same = file.text.lines().zip(fixed.lines()).take_while(|(now, then)| now == then).count();
        findings.add(&file.path, same + 1, "an import outside its group", "run `cargo xtask tidy --fix`");
    }
}

/// An import with the comments and attributes above it.
#[derive(Clone, Copy)]
struct Import {
    /// Its lines, the last one excluded.
    lines: (usize, usize),
    group: Group,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Standard,
    Crates,
    Own,
    Exports,
}

/// The file with its imports in groups. `None` if they are.
pub fn fixed(file: &File) -> Option<String> {
    if file.path.starts_with(PATCHED) {
        return None;
    }
    let mut lines: Vec<&str> = file.text.split('\n').collect();
    // From the last run on, because the number of empty lines changes.
    for run in runs(file.source()).iter().rev() {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let mut sorted = Vec::new();
        for group in [Group::Standard, Group::Crates, Group::Own, Group::Exports] {
            for import in run.iter().filter(|import| import.group == group) {
                sorted.push(&lines[import.lines.0..import.lines.1]);
            }
            sorted.push(&[""]);
        }
        let mut sorted = sorted.concat();
        sorted.dedup_by(|line, before| line.is_empty() && before.is_empty());
        let from = sorted.iter().take_while(|line| line.is_empty()).count();
        sorted.pop();
        lines.splice(first.lines.0..last.lines.1, sorted.split_off(from));
    }
    let text = lines.join("\n");
    (text != file.text).then_some(text)
}

/// The runs of imports of each module.
fn runs(source: &Source) -> Vec<Vec<Import>> {
    let (code, comments): (Vec<&str>, Vec<&str>) = (source.code.lines().collect(), source.comments.lines().collect());
    let mut runs = vec![Vec::<Import>::new()];
    // Where the comments and attributes above the next item begin.
    let mut above = None;
    let mut at = 0;
    while let Some(line) = code.get(at).map(|line| line.trim()) {
        let begins = *above.get_or_insert(at);
        let comment = comments.get(at).map_or("", |line| line.trim());
        let last = past(&code, at);
        if let Some((is_public, root)) = import(line).filter(|_| is_of_module(&code, at)) {
            let group = if is_public { Group::Exports } else { group(source, root) };
            runs.last_mut().expect("begins with one").push(Import { lines: (begins, last), group });
            above = None;
        } else if line.is_empty() && comment.is_empty() {
            // A comment apart from the item below belongs to none.
            if begins < at {
                runs.push(Vec::new());
            }
            above = None;
        } else if !line.starts_with("#[") && (!line.is_empty() || comment.starts_with("//!")) {
            runs.push(Vec::new());
            above = None;
        }
        at = last;
    }
    runs
}

/// The line after the import, the attribute, or any other line.
fn past(code: &[&str], at: usize) -> usize {
    let line = code[at].trim();
    let (open, close) = if line.starts_with("#[") { ('[', ']') } else { ('{', '}') };
    if open == '{' && import(line).is_none() {
        return at + 1;
    }
    let mut depth = 0;
    let is_end = |line: &&str| {
        depth += line.matches(open).count();
        depth = depth.saturating_sub(line.matches(close).count());
        depth == 0
    };
    at + code[at..].iter().position(is_end).map_or(1, |more| more + 1)
}

/// Whether that line imports, as a re-export or not, and the first name of the path.
fn import(line: &str) -> Option<(bool, &str)> {
    let rest = line.strip_prefix("pub").map_or(line, |rest| {
        let scope = rest.strip_prefix('(').and_then(|scope| scope.split_once(')'));
        scope.map_or(rest, |(_, rest)| rest).trim_start()
    });
    let path = rest.strip_prefix("use ")?.trim_start_matches("::");
    Some((rest.len() < line.len(), path.split([':', ';', ' ', '{']).next().unwrap_or_default()))
}

/// Whether the line is at the top of the file or of a module in it, but not of a function.
fn is_of_module(code: &[&str], at: usize) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let outer = code[..at].iter().rev().find(|line| !line.trim().is_empty() && indent(line) < indent(code[at]));
    indent(code[at]) == 0 || outer.is_some_and(|line| line.split_whitespace().any(|word| word == "mod"))
}

fn group(source: &Source, root: &str) -> Group {
    let is_module = || (0..source.tokens.len()).any(|at| source.reads(at, &["mod", root]));
    match root {
        "std" | "core" | "alloc" => Group::Standard,
        "crate" | "self" | "super" | "" => Group::Own,
        _ if root.starts_with(char::is_uppercase) || is_module() => Group::Own,
        _ => Group::Crates,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(text: &str) -> String {
        let tree = Tree::of(&[("a.rs", text)]);
        let file = tree.get("a.rs").unwrap();
        let sorted = fixed(file).unwrap_or_else(|| text.to_owned());
        let again = Tree::of(&[("a.rs", &sorted)]);
        assert!(fixed(again.get("a.rs").unwrap()).is_none(), "not stable: {sorted}");
        sorted
    }

    #[test]
    fn imports_are_put_in_groups() {
        let text = "//! A.\n\nuse super::b;\nuse a::{\n    b,\n    c,\n};\nuse std::d;\n\nuse crate::e;\n\nfn f() {}\n";
        let right =
            "//! A.\n\nuse std::d;\n\nuse a::{\n    b,\n    c,\n};\n\nuse super::b;\nuse crate::e;\n\nfn f() {}\n";
        assert_eq!(sorted(text), right);
        assert_eq!(sorted(right), right);
        assert_eq!(
            sorted("mod a;\nuse a::b;\nuse B::c;\nuse ::d::e;\n"),
            "mod a;\nuse ::d::e;\n\nuse a::b;\nuse B::c;\n"
        );
    }

    #[test]
    fn comments_and_attributes_move_with_their_import() {
        let text = "use crate::a;\n// Why.\n#[cfg(any(\n    b,\n    c\n))]\nuse d::e; // f\nuse g::h;\n";
        let right = "// Why.\n#[cfg(any(\n    b,\n    c\n))]\nuse d::e; // f\nuse g::h;\n\nuse crate::a;\n";
        assert_eq!(sorted(text), right);
    }

    #[test]
    fn other_items_and_comments_between_imports_stay() {
        for text in [
            "use crate::a;\nmod b;\nuse std::c;\n",
            "#[cfg(a)]\nmod b;\n#[cfg(a)]\nuse b::*;\n#[cfg(c)]\nmod d;\n#[cfg(c)]\nuse e::*;\n",
            "use crate::a;\n\n// A heading.\n\nuse std::b;\n",
            "use std::a;\n\nuse crate::b;\n\npub use std::c;\n",
            "#[cfg(a)] mod b;\nuse crate::c;\n#[a]\nmod d {}\nuse std::e;\n",
            "fn f() {\n    use super::a;\n    use std::b;\n}\n",
            "const A: &str = \"\nuse super::a;\nuse std::b;\n\";\n",
        ] {
            assert_eq!(sorted(text), text);
        }
    }

    #[test]
    fn modules_in_a_file_have_groups_too() {
        let text = "#[cfg(test)]\npub(crate) mod tests {\n    use super::*;\n    use a::b;\n\n    fn f() {}\n}\n";
        let right = "#[cfg(test)]\npub(crate) mod tests {\n    use a::b;\n\n    use super::*;\n\n    fn f() {}\n}\n";
        assert_eq!(sorted(text), right);
    }

    #[test]
    fn the_first_wrong_line_is_reported() {
        let (wrong, right) = ("use a::b;\nuse c::d;\nuse std::e;\n", "use a::b;\n");
        let mut findings = Findings::default();
        check(&Tree::of(&[("a.rs", wrong), ("b.rs", right)]), &mut findings);
        let lines: Vec<_> = findings.sorted().into_iter().map(|found| (found.path, found.line)).collect();
        assert_eq!(lines, [("a.rs".to_owned(), 1)]);
    }
}
