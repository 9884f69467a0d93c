//! Layout: no white space at line ends, a newline at the file's end, and in Rust no tabs and no line too long to be read
//! beside another file.

use super::Check;
use super::finding::Findings;
use crate::tree::{File, Tree};

pub const CHECK: Check =
    Check { name: "layout", about: "no trailing white space, tabs (.rs), missing final newline, lines over 125", run };

const CHARS_MAX: usize = 125;

/// Recorded output, and texts of others.
const VERBATIM: &[&str] = &["/fixtures/", "/golden/", "/snapshots/", "/corpus/", "/seeds/"];

fn run(tree: &Tree, findings: &mut Findings) {
    for file in tree.files() {
        let verbatim = VERBATIM.iter().any(|part| file.path.contains(part)) || file.path.ends_with(".snap");
        if verbatim || file.text.is_empty() {
            continue;
        }
        let mut last = 0;
        for (i, line) in file.text.split_terminator('\n').enumerate() {
            last = i + 1;
            if line.ends_with(char::is_whitespace) {
                findings.add(&file.path, last, "white space at the line's end", "remove it");
            }
            if file.rust.is_some() {
                check_rust(file, line, last, findings);
            }
        }
        if !file.text.ends_with('\n') {
            findings.add(&file.path, last, "no newline at the file's end", "add one");
        } else if file.text.ends_with("\n\n") {
            findings.add(&file.path, last, "empty line at the file's end", "remove it");
        }
    }
}

fn check_rust(file: &File, line: &str, number: usize, findings: &mut Findings) {
    if line.contains('\t') {
        findings.add(&file.path, number, "tab", "use spaces (`cargo fmt`)");
    }
    let chars = line.chars().count();
    // An address can't be broken, and a literal only if its meaning permits.
    let literal = file.source().literal_chars.get(number - 1).copied().unwrap_or(0);
    if chars - literal.min(chars) > CHARS_MAX && !line.contains("://") {
        findings.add(&file.path, number, format!("{chars} characters, more than {CHARS_MAX}"), "break the line");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    #[test]
    fn each_fault_is_found() {
        for (path, text, what) in [
            ("a.md", "a \n", "a.md:1: white space at the line's end"),
            ("a.sh", "a\nb", "a.sh:2: no newline at the file's end"),
            ("a.rs", "//! A.\n\n", "a.rs:2: empty line at the file's end"),
            ("a.rs", "fn a() {\n\tb();\n}\n", "a.rs:2: tab"),
        ] {
            assert_eq!(found_by(&CHECK, &[(path, text)]), [what], "{text:?}");
        }
        let long = format!("// {}\n", "é".repeat(123));
        assert_eq!(found_by(&CHECK, &[("a.rs", &long)]), ["a.rs:1: 126 characters, more than 125"]);
    }

    #[test]
    fn what_cannot_be_broken_may_be_long() {
        let word = "x".repeat(150);
        for text in [format!("// https://a.org/{word}\n"), format!("const A: &str = \"{word}\";\n")] {
            assert!(found_by(&CHECK, &[("a.rs", &text)]).is_empty(), "{text}");
        }
        assert!(found_by(&CHECK, &[("a.md", &format!("{word}\n")), ("Makefile", "a:\n\tb\n")]).is_empty());
        assert!(found_by(&CHECK, &[("tests/golden/a.txt", "a \n"), ("b.snap", "a \n"), ("empty", "")]).is_empty());
    }
}
