//! The code that only tests compile: items under `#[cfg(test)]`, the files of such modules, and `tests/`. A feature
//! `testing` beside `test` counts too, because it is for the tests of other crates.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::rust::Source;
use crate::tree::{File, Tree};

/// The test code of a tree.
#[derive(Default)]
pub struct TestCode {
    /// Files and directories (ending in `/`) of modules that only tests compile.
    places: BTreeSet<String>,
}

impl TestCode {
    pub fn of(tree: &Tree) -> TestCode {
        let mut places = BTreeSet::new();
        for file in tree.rust_files() {
            let base = module_directory(&file.path);
            for item in items(file.source()) {
                if let Item::File(name) = item {
                    places.insert(format!("{base}{name}.rs"));
                    places.insert(format!("{base}{name}/"));
                }
            }
        }
        TestCode { places }
    }

    /// The lines of a file that belong to tests.
    pub fn lines(&self, file: &File) -> TestLines {
        let ranges = match &file.rust {
            _ if self.holds_all(file) => std::iter::once(0..usize::MAX).collect(),
            Some(source) => lines(source),
            None => Vec::new(),
        };
        TestLines { ranges }
    }

    /// Whether all of the file is test code, or data for it.
    pub fn holds_all(&self, file: &File) -> bool {
        let path = file.path.as_str();
        path.contains("/tests/")
            || self.places.iter().any(|place| path == place || (place.ends_with('/') && path.starts_with(place)))
    }
}

/// The lines of one file that belong to tests.
pub struct TestLines {
    ranges: Vec<Range<usize>>,
}

impl TestLines {
    pub fn contain(&self, line: usize) -> bool {
        self.ranges.iter().any(|lines| lines.contains(&line))
    }
}

/// The directory of the modules that a file declares: that of `mod.rs`, `lib.rs` or `main.rs`, else one with the file's
/// name.
fn module_directory(path: &str) -> String {
    let (directory, name) = path.rsplit_once('/').map_or(("", path), |(directory, name)| (directory, name));
    let slash = if directory.is_empty() { "" } else { "/" };
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => format!("{directory}{slash}"),
        name => format!("{directory}{slash}{}/", name.trim_end_matches(".rs")),
    }
}

enum Item {
    /// `mod name;`
    File(String),
    /// Anything else, by its lines.
    Lines(Range<usize>),
}

fn lines(source: &Source) -> Vec<Range<usize>> {
    let lines = |item| if let Item::Lines(lines) = item { Some(lines) } else { None };
    items(source).into_iter().filter_map(lines).collect()
}

fn items(source: &Source) -> Vec<Item> {
    let tokens = &source.tokens;
    let mut found = Vec::new();
    for i in 0..tokens.len() {
        let is_condition = source.reads(i, &["#", "[", "cfg", "("]);
        let end = source.past_closing(i + 3);
        if !is_condition || !tokens[i..end].iter().any(|t| t.is("test")) || tokens[i..end].iter().any(|t| t.is("not")) {
            continue;
        }
        // After the condition's `]`, up to the item's body or its end.
        let Some(at) = (end + 1..tokens.len()).find(|&at| tokens[at].is("{") || tokens[at].is(";")) else { continue };
        if tokens[at].is(";") && at > 2 && tokens[at - 2].is("mod") {
            found.push(Item::File(tokens[at - 1].text.clone()));
        } else {
            let last = if tokens[at].is("{") { source.past_closing(at) - 1 } else { at };
            found.push(Item::Lines(tokens[i].line..tokens[last].line + 1));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_modules_are_found_in_place_and_in_files_of_their_own() {
        let root = "//! A.\n#[cfg(test)]\nmod testing;\n#[cfg(any(test, feature = \"testing\"))]\npub mod sheets;\nmod b;\n\
                    #[cfg(test)]\nmod tests {\n    fn f() {}\n}\nfn g() {}\n#[cfg(not(test))]\nfn h() {}\n";
        let paths = ["x/src/testing.rs", "x/src/testing/a.rs", "x/src/sheets.rs", "x/src/b.rs", "x/tests/a.rs"];
        let mut files = vec![("x/src/lib.rs", root)];
        files.extend(paths.map(|path| (path, "")));
        let tree = Tree::of(&files);
        let code = TestCode::of(&tree);
        let all: Vec<&str> = paths.into_iter().filter(|path| code.holds_all(tree.get(path).unwrap())).collect();
        assert_eq!(all, ["x/src/testing.rs", "x/src/testing/a.rs", "x/src/sheets.rs", "x/tests/a.rs"]);
        let root = tree.get("x/src/lib.rs").unwrap();
        let held: Vec<usize> = (1..=13).filter(|&line| code.lines(root).contain(line)).collect();
        assert_eq!(held, [7, 8, 9, 10]);
    }

    #[test]
    fn modules_of_a_file_are_in_the_directory_of_its_name() {
        let tree = Tree::of(&[("x/src/a.rs", "#[cfg(test)]\nmod t;\n"), ("x/src/a/t.rs", ""), ("x/src/t.rs", "")]);
        let code = TestCode::of(&tree);
        assert!(code.holds_all(tree.get("x/src/a/t.rs").unwrap()) && !code.holds_all(tree.get("x/src/t.rs").unwrap()));
    }
}
