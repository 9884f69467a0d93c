//! `unsafe` occurs in the places of [`UNSAFE_PLACES`] only, and each block, `impl`, `extern` block and attribute has a
//! `// SAFETY:` comment directly above it (or before it on its line) that says why it is sound. An `unsafe fn` has
//! requirements for its callers: this check only looks at its place, clippy checks its `# Safety` section.

use super::Check;
use super::finding::Findings;
use crate::arrows::{UNSAFE_PLACES, is_in};
use crate::rust::Source;
use crate::tree::Tree;

pub const CHECK: Check =
    Check { name: "unsafe-code", about: "unsafe stays in its places, and each use says // SAFETY: why", run };

fn run(tree: &Tree, findings: &mut Findings) {
    for file in tree.rust_files() {
        let source = file.source();
        for (i, token) in source.tokens.iter().enumerate() {
            if !token.is("unsafe") {
                continue;
            }
            if !is_in(&file.path, UNSAFE_PLACES) {
                findings.add(
                    &file.path,
                    token.line,
                    "unsafe outside its places",
                    "move it behind a safe function in one of UNSAFE_PLACES (xtask/src/arrows/mod.rs)",
                );
            }
            if needs_reason(source, i) && !has_reason(source, token.line) {
                findings.add(
                    &file.path,
                    token.line,
                    "unsafe without a reason",
                    "add a `// SAFETY:` comment directly above it that says why it is sound",
                );
            }
        }
    }
}

fn needs_reason(source: &Source, at: usize) -> bool {
    // `unsafe fn`, `unsafe extern "C" fn` and `unsafe trait` state requirements for others.
    let rest = source.tokens[at + 1..].iter().filter(|t| !t.is("\"") && !t.is("extern"));
    let next = rest.map(|t| t.text.as_str()).next();
    !matches!(next, Some("fn" | "trait"))
}

/// Looks for the reason from the line of the `unsafe` upwards, through its statement, attributes and comments.
fn has_reason(source: &Source, line: usize) -> bool {
    let code: Vec<&str> = source.code.lines().collect();
    let comments: Vec<&str> = source.comments.lines().collect();
    let mut at = line - 1;
    loop {
        if comments.get(at).is_some_and(|comment| comment.contains("SAFETY:")) {
            return true;
        }
        let Some(above) = at.checked_sub(1) else { return false };
        let (text, comment) = (code[above].trim(), comments[above].trim());
        let ended = if text.is_empty() {
            comment.is_empty()
        } else {
            text.ends_with([';', '{', '}', ',']) && !text.starts_with("#[")
        };
        if ended {
            return false;
        }
        at = above;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    const ROOM: &str = "crates/oversleep/src/sys/linux.rs";

    #[test]
    fn unsafe_outside_its_places_is_found() {
        let text = "fn f() {\n    // SAFETY: sound.\n    unsafe { g() }\n}\n";
        assert!(found_by(&CHECK, &[(ROOM, text)]).is_empty());
        for path in ["crates/oversleep-record/src/lib.rs", "crates/oversleep-measure/src/a.rs", "fuzz/a.rs"] {
            assert_eq!(found_by(&CHECK, &[(path, text)]), [format!("{path}:3: unsafe outside its places")]);
        }
    }

    #[test]
    fn blocks_impls_externs_and_attributes_need_a_reason() {
        for text in [
            "fn f() {\n    unsafe { g() }\n}\n",
            "unsafe impl Send for A {}\n",
            "unsafe extern \"C\" {\n    fn f();\n}\n",
            "#[unsafe(no_mangle)]\nfn f() {}\n",
            "fn f() {\n    // SAFETY: for the first only.\n    unsafe { g() };\n    unsafe { h() };\n}\n",
            "// SAFETY: cut off by the empty line.\n\nunsafe impl Send for A {}\n",
            "fn f() {\n    let safety = \"SAFETY:\";\n    unsafe { g() }\n}\n",
        ] {
            assert_eq!(found_by(&CHECK, &[(ROOM, text)]).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_reason_may_be_above_the_whole_statement() {
        for text in [
            "fn f() {\n    // SAFETY: sound,\n    // and said so at length.\n    let a =\n        b(unsafe { g() });\n}\n",
            "// SAFETY: sound.\n#[allow(dead_code)]\nunsafe impl Send for A {}\n",
            "fn f() {\n    let a = /* SAFETY: sound. */ unsafe { g() };\n}\n",
            "/// # Safety\n/// Call it once.\npub unsafe fn f() {}\n",
            "type F = unsafe extern \"C\" fn(i32);\n",
        ] {
            assert!(found_by(&CHECK, &[(ROOM, text)]).is_empty(), "{text}");
        }
    }
}
