//! Finds the paths (`crate::a::b`, `use oversleep_record::{…}`) in a Rust file and expands them from the crate's root:
//! groups are expanded, `self` and `super` resolved, even inside `mod name { … }`.

use crate::rust::{Source, Token};

/// One path, from `crate` or from a crate's name.
#[derive(Debug, PartialEq, Eq)]
pub struct PathUse {
    pub segments: Vec<String>,
    pub line: usize,
}

/// The module of a file, from its path below `src/`: `a/b.rs` and `a/b/mod.rs` are `a::b`.
pub fn module_of(below_src: &str) -> Vec<String> {
    let stem = below_src.strip_suffix(".rs").unwrap_or(below_src);
    let mut parts: Vec<String> = stem.split('/').map(str::to_owned).collect();
    let last = parts.last().map(String::as_str);
    if last == Some("mod") || (parts.len() == 1 && matches!(last, Some("lib" | "main"))) {
        parts.pop();
    }
    parts
}

/// Every path in the file that begins at a crate. Paths through a name in scope aren't followed, because the `use` of
/// that name is found.
pub fn uses(source: &Source, module: &[String]) -> Vec<PathUse> {
    let tokens = &source.tokens;
    let is = |i: usize, text: &str| tokens.get(i).is_some_and(|t| t.is(text));
    let mut found = Vec::new();
    let mut here = module.to_vec();
    let mut inline: Vec<usize> = Vec::new();
    let mut depth = 0_usize;
    let mut i = 0;
    while i < tokens.len() {
        if is(i, "{") {
            depth += 1;
        } else if is(i, "}") {
            depth = depth.saturating_sub(1);
            if inline.last() == Some(&depth) {
                inline.pop();
                here.pop();
            }
        } else if is(i, "mod") && is(i + 2, "{") {
            here.push(tokens[i + 1].text.clone());
            inline.push(depth);
            i += 2;
            continue;
        } else if tokens[i].is_word() && !is_keyword(&tokens[i]) && !continues_a_path(tokens, i) {
            let used = i > 0 && (is(i - 1, "use") || (is(i - 1, "crate") && is(i.wrapping_sub(2), "extern")));
            if is(i + 1, "::") || used {
                let mut spread = Vec::new();
                i = spread_from(tokens, i, Vec::new(), &mut spread);
                found.extend(spread.into_iter().filter_map(|path| resolve(path, &here)));
                continue;
            }
        }
        i += 1;
    }
    found
}

/// `b` in `a::b`, but not in `use ::b` or `(::b`.
fn continues_a_path(tokens: &[Token], i: usize) -> bool {
    let Some(before) = i.checked_sub(2).and_then(|at| tokens.get(at)) else { return false };
    tokens[i - 1].is("::") && (before.is(">") || (before.is_word() && !is_keyword(before)))
}

/// The keywords a path may follow: the `::` after one begins a path, and doesn't continue one.
fn is_keyword(token: &Token) -> bool {
    const KEYWORDS: &[&str] =
        &["as", "dyn", "else", "for", "if", "impl", "in", "match", "mut", "return", "use", "where"];
    KEYWORDS.contains(&token.text.as_str())
}

/// Reads one path or use tree at `i`; returns the index past it.
fn spread_from(tokens: &[Token], mut i: usize, mut prefix: Vec<String>, out: &mut Vec<PathUse>) -> usize {
    let is = |i: usize, text: &str| tokens.get(i).is_some_and(|t| t.is(text));
    let mut line = tokens.get(i).map_or(0, |t| t.line);
    loop {
        if is(i, "{") {
            i += 1;
            while i < tokens.len() && !is(i, "}") {
                if tokens[i].is_word() || is(i, "{") || is(i, "*") {
                    i = spread_from(tokens, i, prefix.clone(), out);
                    if is(i, "as") {
                        i += 2;
                    }
                } else {
                    i += 1;
                }
            }
            return i + 1;
        }
        let Some(token) = tokens.get(i).filter(|t| t.is_word() || t.is("*")) else {
            out.push(PathUse { segments: prefix, line });
            return i;
        };
        line = token.line;
        prefix.push(token.text.clone());
        i += 1;
        if !is(i, "::") {
            out.push(PathUse { segments: prefix, line });
            return i;
        }
        i += 1;
    }
}

fn resolve(path: PathUse, here: &[String]) -> Option<PathUse> {
    let PathUse { segments, line } = path;
    let mut base: Vec<&String> = here.iter().collect();
    let mut rest = segments.as_slice();
    let relative = matches!(rest.first()?.as_str(), "self" | "super");
    while let Some(first) = rest.first() {
        match first.as_str() {
            "super" => {
                base.pop();
            }
            "self" => {}
            _ => break,
        }
        rest = &rest[1..];
    }
    if !relative {
        return Some(PathUse { segments, line });
    }
    let root = std::iter::once("crate".to_owned());
    let segments = root.chain(base.into_iter().cloned()).chain(rest.iter().cloned()).collect();
    Some(PathUse { segments, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let module = ["measure".to_owned(), "waits".to_owned()];
        uses(&Source::scan(text), &module).iter().map(|p| p.segments.join("::")).collect()
    }

    #[test]
    fn files_are_modules() {
        assert!(module_of("lib.rs").is_empty() && module_of("main.rs").is_empty());
        assert_eq!(module_of("measure.rs"), ["measure"]);
        assert_eq!(module_of("measure/mod.rs"), ["measure"]);
        assert_eq!(module_of("measure/main.rs"), ["measure", "main"]);
    }

    #[test]
    fn groups_are_spread() {
        assert_eq!(
            found("use crate::{a::{b, c as d}, e::*, f};\nuse oversleep_record as r;"),
            ["crate::a::b", "crate::a::c", "crate::e::*", "crate::f", "oversleep_record"]
        );
        assert_eq!(found("use ::oversleep_record::Nanos;"), ["oversleep_record::Nanos"]);
        assert_eq!(found("fn f() -> u8 { return ::std::x() as ::core::y }"), ["std::x", "core::y"]);
        assert_eq!(found("use {crate::a, crate::b};"), ["crate::a", "crate::b"]);
    }

    #[test]
    fn paths_in_expressions_and_types_count() {
        assert_eq!(
            found("fn f(x: &crate::a::B) -> Vec<crate::c::D> { crate::e::f::<u8>(x) }"),
            ["crate::a::B", "crate::c::D", "crate::e::f"]
        );
        assert_eq!(found("pub(crate) fn f(oversleep: u8) { g(oversleep) }"), [""; 0]);
    }

    #[test]
    fn self_and_super_are_resolved() {
        assert_eq!(
            found("use super::a; use super::super::b; use self::c;"),
            ["crate::measure::a", "crate::b", "crate::measure::waits::c"]
        );
        assert_eq!(
            found("mod t { use super::*; fn f() { super::super::x::y() } } use super::z;"),
            ["crate::measure::waits::*", "crate::measure::x::y", "crate::measure::z"]
        );
    }

    #[test]
    fn lines_are_those_of_the_name() {
        let paths = uses(&Source::scan("use crate::{\n    a,\n    b::c,\n};\n"), &[]);
        assert_eq!(paths.iter().map(|p| p.line).collect::<Vec<_>>(), [2, 3]);
    }
}
