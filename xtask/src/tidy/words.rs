//! Words that must not occur in the tree: unfinished work, paths of one machine, and every second word for a thing that
//! has a name. The lists are data: [`LIST`], and the exceptions with their reasons in [`EXCEPTIONS`].

use std::collections::BTreeSet;

use super::Check;
use super::finding::Findings;
use super::prose::{Cell, CellKind, Prose, cells};
use super::test_code::{TestCode, TestLines};
use crate::rust::is_word_char;
use crate::tree::{File, Tree};

pub const CHECK: Check = Check { name: "words", about: "none of the words in xtask/tidy/banned-words.txt", run };

/// One `where | phrase | what to do` per line; `#` begins a comment.
pub const LIST: &str = "xtask/tidy/banned-words.txt";
/// One `path | phrase | why it may stay there` per line; a path ending in `/` is a directory.
pub const EXCEPTIONS: &str = "xtask/tidy/allowed-words.txt";

/// Texts of others, output of programs, and the lists themselves.
const UNREAD: &[&str] =
    &["/golden/", "/fixtures/", "/corpus/", "/seeds/", "/runs/", "/tests/whole/", "proptest-regressions/"];
const UNREAD_ENDS: &[&str] = &[".snap", ".json", ".lock", ".h", ".svg", ".jsonl", "LICENSE-APACHE", "LICENSE-MIT"];
/// Generated from registries, whose sources are checked.
const GENERATED: &[&str] = &["docs/findings/", "docs/experiments/"];

/// The keywords of definitions.
const DEFINING: &[&str] = &["fn", "struct", "enum", "trait", "type", "const", "static", "mod"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// Every line of every file.
    Any,
    /// Every line of a Rust file.
    Rust,
    /// Comments, string literals, Markdown and comments of other files.
    Prose,
    /// A whole string literal, or a cell of a Markdown table.
    Cell,
    /// The head of a column.
    Head,
    /// The head of a column of figures, in Rust.
    Figure,
    /// A name in Rust code; `*` at one end stands for anything.
    Name,
    /// The name of a type, a function, a constant or a module, where it is defined.
    Item,
}

impl Where {
    const ALL: &[(&str, Where)] = &[
        ("any", Where::Any),
        ("rust", Where::Rust),
        ("prose", Where::Prose),
        ("cell", Where::Cell),
        ("head", Where::Head),
        ("figure", Where::Figure),
        ("name", Where::Name),
        ("item", Where::Item),
    ];
}

struct Banned<'a> {
    place: Where,
    phrase: &'a str,
    remedy: &'a str,
}

fn run(tree: &Tree, findings: &mut Findings) {
    let banned = read_list(tree, findings);
    let mut exceptions = read_exceptions(tree, findings);
    let tests = TestCode::of(tree);
    for file in tree.files().filter(|file| file.path != LIST && file.path != EXCEPTIONS) {
        let mut seen = BTreeSet::new();
        for (line, Banned { phrase, remedy, .. }) in found_in(file, &banned, &tests.lines(file)) {
            let allowed = exceptions.iter_mut().find(|e| e.phrase == *phrase && e.covers(&file.path));
            if let Some(exception) = allowed {
                exception.is_used = true;
            } else if seen.insert((line, phrase)) {
                findings.add(&file.path, line, format!("`{phrase}`"), *remedy);
            }
        }
    }
    for exception in exceptions.iter().filter(|exception| !exception.is_used) {
        let what = format!("`{}` isn't in {} any more", exception.phrase, exception.path);
        findings.add(EXCEPTIONS, exception.at, what, "remove this line");
    }
}

/// The lines of a list with three columns.
fn rows<'a>(tree: &'a Tree, path: &str) -> impl Iterator<Item = (usize, Option<[&'a str; 3]>)> + 'a {
    let text = tree.get(path).map_or("", |file| file.text.as_str());
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines.map(|(i, line)| {
        let columns: Vec<&str> = line.split(" | ").map(str::trim).collect();
        (i + 1, <[&str; 3]>::try_from(columns).ok().filter(|columns| columns.iter().all(|text| !text.is_empty())))
    })
}

fn read_list<'a>(tree: &'a Tree, findings: &mut Findings) -> Vec<Banned<'a>> {
    if tree.get(LIST).is_none() {
        findings.add(LIST, 1, "the list of words is missing", "restore it");
    }
    let mut banned = Vec::new();
    for (at, row) in rows(tree, LIST) {
        let place = |name: &str| Where::ALL.iter().find(|(known, _)| *known == name).map(|(_, place)| *place);
        match row.and_then(|[name, phrase, remedy]| Some(Banned { place: place(name)?, phrase, remedy })) {
            Some(row) => banned.push(row),
            None => {
                let places: Vec<&str> = Where::ALL.iter().map(|(name, _)| *name).collect();
                let remedy = format!("write `where | phrase | what to do`; where is {}", places.join(", "));
                findings.add(LIST, at, "not a row of the list", remedy);
            }
        }
    }
    banned
}

struct Exception<'a> {
    path: &'a str,
    phrase: &'a str,
    at: usize,
    is_used: bool,
}

impl Exception<'_> {
    fn covers(&self, path: &str) -> bool {
        path == self.path || (self.path.ends_with('/') && path.starts_with(self.path))
    }
}

fn read_exceptions<'a>(tree: &'a Tree, findings: &mut Findings) -> Vec<Exception<'a>> {
    let mut exceptions = Vec::new();
    for (at, row) in rows(tree, EXCEPTIONS) {
        match row {
            Some([path, phrase, _]) => exceptions.push(Exception { path, phrase, at, is_used: false }),
            None => {
                findings.add(EXCEPTIONS, at, "not a row of the list", "write `path | phrase | why it may stay there`")
            }
        }
    }
    exceptions
}

/// Every occurrence of a banned phrase in a file, by line.
fn found_in<'a, 'b>(file: &File, banned: &'b [Banned<'a>], tests: &TestLines) -> Vec<(usize, &'b Banned<'a>)> {
    let mut found = Vec::new();
    let of = |place: Where| banned.iter().filter(move |b| b.place == place);
    for (i, line) in file.text.lines().enumerate() {
        let is_rust = file.rust.is_some();
        let here = banned.iter().filter(|b| b.place == Where::Any || (b.place == Where::Rust && is_rust));
        found.extend(here.filter(|b| !places(line, b.phrase).is_empty()).map(|b| (i + 1, b)));
    }
    if is_unread(&file.path) {
        return found;
    }
    let prose = Prose::of(file, tests);
    for b in of(Where::Prose) {
        let of_prose =
            places(&prose.text, b.phrase).into_iter().filter(|at| !is_part_of_a_name(&prose.text, *at, b.phrase));
        found.extend(of_prose.map(|at| (prose.line(at), b)));
    }
    for Cell { line, text, kind } in cells(file, tests) {
        let is_there = |place: Where| match place {
            Where::Cell => true,
            Where::Head => kind != CellKind::Other,
            Where::Figure => kind == CellKind::HeadOfFigures,
            _ => false,
        };
        let here = banned.iter().filter(|b| is_there(b.place) && text.eq_ignore_ascii_case(b.phrase));
        found.extend(here.map(|b| (line, b)));
    }
    let tokens = file.rust.as_ref().map_or(&[][..], |source| &source.tokens);
    for (i, token) in tokens.iter().enumerate() {
        let defines = i > 0 && DEFINING.iter().any(|word| tokens[i - 1].is(word));
        let here = banned.iter().filter(|b| b.place == Where::Name || (b.place == Where::Item && defines));
        found.extend(here.filter(|b| is_name(&token.text, b.phrase)).map(|b| (token.line, b)));
    }
    found
}

/// Whether a word belongs to a command (`oversleep handoff`), a file or a setting (`wakeup-granularity`).
fn is_part_of_a_name(text: &str, at: usize, phrase: &str) -> bool {
    const JOINTS: &[char] = &['-', '.', '/', '_', '='];
    let (before, after) = (&text[..at], &text[at + phrase.len()..]);
    let goes_on = after.starts_with(" =") || (after.starts_with(JOINTS) && after[1..].starts_with(is_word_char));
    !phrase.contains(' ') && (before.ends_with("oversleep ") || before.ends_with(JOINTS) || goes_on)
}

fn is_unread(path: &str) -> bool {
    UNREAD.iter().any(|part| path.contains(part))
        || UNREAD_ENDS.iter().any(|end| path.ends_with(end))
        || GENERATED.iter().any(|directory| path.starts_with(directory))
}

fn is_name(word: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => word.ends_with(end),
        (_, Some(begin)) => word.starts_with(begin),
        _ => word == pattern,
    }
}

/// Where a text contains the phrase as whole words. A phrase in lower case matches capitals, too.
fn places(text: &str, phrase: &str) -> Vec<usize> {
    if phrase.chars().any(char::is_uppercase) {
        whole_words(text, phrase)
    } else {
        // ASCII only, so that positions are preserved.
        whole_words(&text.to_ascii_lowercase(), phrase)
    }
}

fn whole_words(text: &str, phrase: &str) -> Vec<usize> {
    let is_whole = |at: &usize| {
        let (before, after) = (text[..*at].chars().next_back(), text[at + phrase.len()..].chars().next());
        let is_letter = |c: char| is_word_char(c) || c == '#';
        let joined = |edge: Option<char>, neighbour: Option<char>| {
            edge.is_some_and(is_letter) && neighbour.is_some_and(is_letter)
        };
        // A path such as `/a/` is one of this machine only at the beginning of a path.
        let inner_path = phrase.starts_with('/') && before.is_some_and(|c| is_word_char(c) || c == '.');
        !joined(phrase.chars().next(), before) && !joined(phrase.chars().next_back(), after) && !inner_path
    };
    text.match_indices(phrase).map(|(at, _)| at).filter(is_whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    const WORDS: &str = "# why\nrust | FLORP | finish it\nany | frob | say how\nany | /desk/ | leave it out\n\
                         prose | to be had | say `available`\nprose | asks for # | say `requests`\nhead | late | say `lateness`\n\
                         cell | least | say `min`\nprose | handoff | say `hand-off`\nfigure | waits | say `count`\nname | *_ns | name it\nitem | said | name it\n";

    fn seen(path: &str, text: &str) -> Vec<String> {
        found_by(&CHECK, &[(LIST, WORDS), (path, text)])
    }

    #[test]
    fn banned_words_are_found_where_they_are_banned() {
        assert_eq!(seen("a.rs", "//! A.\n// FLORP: later\n"), ["a.rs:2: `FLORP`"]);
        assert_eq!(seen("a.md", "You Frob it.\n"), ["a.md:1: `frob`"]);
        assert_eq!(seen("a.sh", "cd /desk/drawer\n"), ["a.sh:1: `/desk/`"]);
        assert!(seen("a.md", "FLORP").is_empty());
    }

    #[test]
    fn phrases_are_found_across_lines_of_prose() {
        assert_eq!(seen("a.rs", "//! Not to\n//! be had.\n"), ["a.rs:1: `to be had`"]);
        assert_eq!(seen("a.rs", "fn f() { g(\"not to \\\n    be had\") }\n"), ["a.rs:1: `to be had`"]);
        assert_eq!(seen("a.md", "It is not to be\nhad.\n"), ["a.md:1: `to be had`"]);
        assert_eq!(seen("a.md", "It asks for 1 ms.\n"), ["a.md:1: `asks for #`"]);
        for text in ["fn to() { be(had) }", "#[cfg(test)]\nmod t { const A: &str = \"to be had\"; }", "// To be. Had."]
        {
            assert!(seen("a.rs", text).is_empty(), "{text}");
        }
        assert!(seen("docs/findings/OVS-L001.md", "to be had").is_empty());
        assert!(seen("a.md", "It asks for more, as in `asks for 1 ms`.").is_empty());
        assert_eq!(seen("a.md", "A handoff.\n"), ["a.md:1: `handoff`"]);
        for text in ["$ oversleep handoff --quick", "handoff.rs, x-handoff, a/handoff", "`handoff`"] {
            assert!(seen("a.md", text).is_empty(), "{text}");
        }
        assert!(seen("a.rs", "const A: &str = \"handoff\";").is_empty(), "a literal without a space is a name");
    }

    #[test]
    fn heads_cells_and_names_are_found_in_their_places_only() {
        assert_eq!(seen("a.rs", "fn f() { figures(\"late\", 1) }"), ["a.rs:1: `late`"]);
        assert!(seen("a.rs", "fn f() { g(\"late\", \"he was late\") }").is_empty());
        assert_eq!(seen("a.md", "| late | x |\n|---|---|\n| late | y |\n"), ["a.md:1: `late`"]);
        assert_eq!(seen("a.rs", "fn f() { [\"least\", \"at least\"] }"), ["a.rs:1: `least`"]);
        assert_eq!(seen("a.md", "| a |\n|---|\n| least |\n"), ["a.md:3: `least`"]);
        assert_eq!(seen("a.rs", "fn f() { figures(\"waits\", 1); words(\"waits\", 1) }"), ["a.rs:1: `waits`"]);
        assert_eq!(seen("a.rs", "let a_ns = said();\nfn said() {}\n// said"), ["a.rs:1: `*_ns`", "a.rs:2: `said`"]);
    }

    #[test]
    fn exceptions_have_reasons_and_are_used() {
        let with = |exceptions: &str, text: &str| {
            found_by(&CHECK, &[(LIST, WORDS), (EXCEPTIONS, exceptions), ("a/b.md", text)])
        };
        assert!(with("a/b.md | frob | its own word\n", "frob").is_empty());
        assert!(with("a/ | frob | its own word\n", "frob").is_empty());
        assert_eq!(with("a/ | to be had | why\n", "frob").len(), 2);
        assert_eq!(with("a/ | frob\n", "").len(), 1, "no reason");
    }

    #[test]
    fn parts_of_other_words_are_not_found() {
        for text in ["frobnicate", "a_frob", "florp", "FLORPS", "https://a.org/desk/b", "../desk/b"] {
            assert!(seen("a.rs", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_list_itself_is_checked() {
        assert_eq!(found_by(&CHECK, &[("a.rs", "")]).len(), 1);
        for line in ["FLORP", "everywhere | FLORP | finish it", "rust | FLORP | ", "rust |  | x"] {
            assert_eq!(found_by(&CHECK, &[(LIST, line)]).len(), 1, "{line}");
        }
    }
}
