//! Sibling modules must not import one another in a cycle, because such modules can't be read or tested apart. Found
//! from the paths in the code, except in tests; a module may use what its parent declares.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::finding::Findings;
use super::paths;
use super::test_code::TestCode;
use crate::tree::Tree;

pub const CHECK: Check = Check { name: "circles", about: "modules beside one another import one another one way", run };

/// Accepted cycles: the directory, two of its modules, and the reason.
const ALLOWED: &[(&str, [&str; 2], &str)] = &[
    ("crates/oversleep/src", ["clock", "sys"], "a system answers in the words of the clock that asks it"),
    (
        "crates/oversleep-capi/src",
        ["boundary", "status"],
        "a panic at the boundary is a status, and each status has a text",
    ),
    (
        "crates/oversleep-model/src/sim/kernel",
        ["carriers", "state"],
        "a carrier runs a thread of the state, which holds it",
    ),
    (
        "crates/oversleep-native/src/linux",
        ["clocks", "environment"],
        "a fact compares clocks, and a counter needs facts",
    ),
];

/// The siblings that a module imports, and where.
type Imports = BTreeMap<String, BTreeMap<String, (String, usize)>>;

fn run(tree: &Tree, findings: &mut Findings) {
    let tests = TestCode::of(tree);
    let mut directories: BTreeMap<String, Imports> = BTreeMap::new();
    for file in tree.rust_files() {
        let Some((source_root, below)) = file.path.split_once("/src/") else { continue };
        let module = paths::module_of(below);
        let tests = tests.lines(file);
        for path in paths::uses(file.source(), &module) {
            if path.segments.first().is_none_or(|first| first != "crate") || tests.contain(path.line) {
                continue;
            }
            let to = &path.segments[1..];
            let common = module.iter().zip(to).take_while(|(a, b)| a == b).count();
            let (Some(from), Some(to)) = (module.get(common), to.get(common)) else { continue };
            let parent = [&[format!("{source_root}/src")], &module[..common]].concat().join("/");
            if tree.has(&format!("{parent}/{to}.rs")) || tree.has(&format!("{parent}/{to}/mod.rs")) {
                let imports = directories.entry(parent).or_default().entry(from.clone()).or_default();
                imports.entry(to.clone()).or_insert((file.path.clone(), path.line));
            }
        }
    }
    for (directory, imports) in &directories {
        for circle in circles(imports) {
            let is_allowed = |(place, [a, b], _): &(&str, [&str; 2], &str)| place == directory && circle == [*a, *b];
            if ALLOWED.iter().any(is_allowed) {
                continue;
            }
            let (path, line) = &imports[&circle[0]][&circle[1 % circle.len()]];
            let names = circle.iter().chain(circle.first()).map(|name| format!("`{name}`")).collect::<Vec<_>>();
            let what = format!("a circle of imports: {}", names.join(" → "));
            findings.add(path, *line, what, "move what they share to a module that both import");
        }
    }
}

/// A shortest cycle through each module that is in one; each cycle once.
fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let mut found: BTreeMap<BTreeSet<String>, Vec<String>> = BTreeMap::new();
    for start in imports.keys() {
        if let Some(circle) = circle_through(imports, start) {
            found.entry(circle.iter().cloned().collect()).or_insert(circle);
        }
    }
    found.into_values().collect()
}

fn circle_through(imports: &Imports, start: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.to_owned()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut next = Vec::new();
        for way in ways {
            let last = way.last().expect("a way has a beginning");
            for to in imports.get(last).into_iter().flat_map(BTreeMap::keys) {
                if to == start {
                    return Some(way);
                }
                if seen.insert(to.clone()) {
                    next.push([way.as_slice(), std::slice::from_ref(to)].concat());
                }
            }
        }
        ways = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    #[test]
    fn circles_of_any_length_are_found_once() {
        let two = [("x/src/a.rs", "use super::b::B;"), ("x/src/b.rs", "fn f() { crate::a::f() }")];
        assert_eq!(found_by(&CHECK, &two), ["x/src/a.rs:1: a circle of imports: `a` → `b` → `a`"]);
        let three = [
            ("x/src/m/a.rs", "use crate::m::b;"),
            ("x/src/m/b/c.rs", "use super::super::d::D;"),
            ("x/src/m/b/mod.rs", "mod c;"),
            ("x/src/m/d.rs", "use super::{a::A, e};"),
            ("x/src/m/mod.rs", "use self::a; mod b;"),
        ];
        let found = found_by(&CHECK, &three);
        assert_eq!(found, ["x/src/m/a.rs:1: a circle of imports: `a` → `b` → `d` → `a`"]);
    }

    #[test]
    fn one_way_parents_and_tests_are_fine() {
        for files in [
            [("x/src/a.rs", "use super::b::B;"), ("x/src/b.rs", "use crate::B;")],
            [("x/src/a.rs", "use super::b;"), ("x/src/b.rs", "#[cfg(test)]\nmod tests {\n    use crate::a;\n}")],
            [("x/src/a/mod.rs", "mod b;"), ("x/src/a/b.rs", "use super::A;\nuse crate::a::C;")],
        ] {
            assert!(found_by(&CHECK, &files).is_empty(), "{files:?}");
        }
    }
}
