//! Words that don't belong in the tree: unfinished work, paths of one machine, claims that a thing is easy. The list
//! is data, in [`LIST`].

use super::Check;
use super::finding::Findings;
use super::rust::is_word_char;
use super::tree::Tree;

pub const CHECK: Check = Check { name: "words", about: "none of the words in xtask/tidy/banned-words.txt", run };

/// One `where | phrase | what to do` per line; `#` begins a comment.
pub const LIST: &str = "xtask/tidy/banned-words.txt";

struct Banned<'a> {
    /// Only in .rs files.
    rust_only: bool,
    phrase: &'a str,
    remedy: &'a str,
}

fn run(tree: &Tree, findings: &mut Findings) {
    let Some(list) = tree.get(LIST) else {
        findings.add(LIST, 1, "the list of words is missing", "restore it");
        return;
    };
    let mut banned = Vec::new();
    for (i, line) in list.text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        match parts.as_slice() {
            &[place @ ("rust" | "any"), phrase, remedy] if !phrase.is_empty() && !remedy.is_empty() => {
                banned.push(Banned { rust_only: place == "rust", phrase, remedy });
            }
            _ => findings.add(LIST, i + 1, "not `rust | phrase | what to do` (or `any | …`)", "write it so"),
        }
    }
    for file in tree.files().filter(|file| file.path != LIST) {
        for (i, line) in file.text.lines().enumerate() {
            let found = banned.iter().filter(|b| (!b.rust_only || file.rust.is_some()) && says(line, b.phrase));
            for Banned { phrase, remedy, .. } in found {
                findings.add(&file.path, i + 1, format!("`{phrase}`"), *remedy);
            }
        }
    }
}

/// Does the line hold the phrase as whole words? A phrase in small letters is found in capitals too.
fn says(line: &str, phrase: &str) -> bool {
    if phrase.chars().any(char::is_uppercase) {
        whole_words(line, phrase)
    } else {
        whole_words(&line.to_lowercase(), phrase)
    }
}

fn whole_words(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (line[..at].chars().next_back(), line[at + phrase.len()..].chars().next());
        let joined = |edge: Option<char>, neighbour: Option<char>| {
            edge.is_some_and(is_word_char) && neighbour.is_some_and(is_word_char)
        };
        // A path such as `/a/` is this machine's only where a path begins.
        let inner_path = phrase.starts_with('/') && before.is_some_and(|c| is_word_char(c) || c == '.');
        !joined(phrase.chars().next(), before) && !joined(phrase.chars().next_back(), after) && !inner_path
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    const WORDS: &str = "# why\nrust | FLORP | finish it\nany | frob | say how\nany | /desk/ | leave it out\n";

    #[test]
    fn banned_words_are_found_where_they_are_banned() {
        let seen = |path: &str, text: &str| found_by(&CHECK, &[(LIST, WORDS), (path, text)]);
        assert_eq!(seen("a.rs", "//! A.\n// FLORP: later\n"), ["a.rs:2: `FLORP`"]);
        assert_eq!(seen("a.md", "You Frob it.\n"), ["a.md:1: `frob`"]);
        assert_eq!(seen("a.sh", "cd /desk/drawer\n"), ["a.sh:1: `/desk/`"]);
        assert!(seen("a.md", "FLORP").is_empty());
    }

    #[test]
    fn parts_of_other_words_are_not() {
        for text in ["frobnicate", "a_frob", "florp", "FLORPS", "https://a.org/desk/b", "../desk/b"] {
            assert!(found_by(&CHECK, &[(LIST, WORDS), ("a.rs", text)]).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_list_itself_is_checked() {
        assert_eq!(found_by(&CHECK, &[("a.rs", "")]).len(), 1);
        for line in ["FLORP", "everywhere | FLORP | finish it", "rust | FLORP |", "rust || x"] {
            assert_eq!(found_by(&CHECK, &[(LIST, line)]).len(), 1, "{line}");
        }
    }
}
