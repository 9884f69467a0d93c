//! Files stay small: a file that you have to scroll through has more than one subject. Longer files are listed with
//! their current length in [`RATCHET`], and those lengths only go down.

use super::Check;
use super::finding::Findings;
use crate::tree::{File, Tree};

pub const CHECK: Check =
    Check { name: "length", about: "no .rs file over 400 lines, but those the ratchet lists, which only shrink", run };

/// One `<lines> <path>` per line; `#` begins a comment.
pub const RATCHET: &str = "xtask/tidy/length-ratchet.txt";

const LINES_MAX: usize = 400;

struct Entry<'a> {
    lines: usize,
    path: &'a str,
    /// Its line in the ratchet.
    at: usize,
}

fn entries(text: &str) -> impl Iterator<Item = Result<Entry<'_>, usize>> {
    text.lines().enumerate().filter_map(|(i, line)| {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let entry = line.split_once(' ').and_then(|(lines, path)| Some((lines.parse().ok()?, path.trim())));
        Some(entry.map(|(lines, path)| Entry { lines, path, at: i + 1 }).ok_or(i + 1))
    })
}

fn lines_of(file: &File) -> usize {
    file.text.lines().count()
}

fn run(tree: &Tree, findings: &mut Findings) {
    let ratchet = tree.get(RATCHET).map_or("", |file| &file.text);
    let mut listed = Vec::new();
    for entry in entries(ratchet) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(at) => {
                findings.add(RATCHET, at, "not a row of the ratchet", "write `<lines> <path>`");
                continue;
            }
        };
        listed.push(entry.path);
        let lower = "run `cargo xtask tidy --update`";
        match tree.get(entry.path).map(lines_of) {
            None => findings.add(RATCHET, entry.at, format!("{} no longer exists", entry.path), lower),
            Some(now) if now > entry.lines => findings.add(
                entry.path,
                now,
                format!("{now} lines, {} more than the ratchet allows", now - entry.lines),
                "move a subject of its own to another file",
            ),
            Some(now) if now < entry.lines => {
                findings.add(RATCHET, entry.at, format!("{} has only {now} lines now", entry.path), lower);
            }
            Some(now) if now <= LINES_MAX => {
                findings.add(RATCHET, entry.at, format!("{} needs no entry", entry.path), lower);
            }
            Some(_) => {}
        }
    }
    for file in tree.rust_files().filter(|file| !listed.contains(&file.path.as_str())) {
        let now = lines_of(file);
        if now > LINES_MAX {
            findings.add(
                &file.path,
                now,
                format!("{now} lines, more than {LINES_MAX}"),
                format!("split it by subject; if it can't be, add `{now} {}` to {RATCHET}", file.path),
            );
        }
    }
}

/// The ratchet with every number lowered to the current length and every obsolete entry removed. Nothing is raised or
/// added, because that is a decision for a person. `None`: nothing to change.
pub fn lowered(tree: &Tree) -> Option<String> {
    let ratchet = &tree.get(RATCHET)?.text;
    let mut text = String::new();
    for line in ratchet.lines() {
        let Some(Ok(entry)) = entries(line).next() else {
            text.push_str(line);
            text.push('\n');
            continue;
        };
        let Some(now) = tree.get(entry.path).map(lines_of).filter(|now| *now > LINES_MAX) else { continue };
        text.push_str(&format!("{} {}\n", now.min(entry.lines), entry.path));
    }
    (text != *ratchet).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    #[test]
    fn long_files_need_an_entry() {
        let (fits, long) = ("//! x\n".repeat(400), "//! x\n".repeat(401));
        assert!(found_by(&CHECK, &[("a.rs", &fits)]).is_empty());
        assert_eq!(found_by(&CHECK, &[("a.rs", &long)]), ["a.rs:401: 401 lines, more than 400"]);
        assert!(found_by(&CHECK, &[("a.rs", &long), (RATCHET, "# why\n401 a.rs\n")]).is_empty());
        assert!(found_by(&CHECK, &[("a.md", &long)]).is_empty());
    }

    #[test]
    fn the_ratchet_goes_one_way() {
        let long = "//! x\n".repeat(450);
        let grown = found_by(&CHECK, &[("a.rs", &long), (RATCHET, "449 a.rs\n")]);
        assert_eq!(grown, ["a.rs:450: 450 lines, 1 more than the ratchet allows"]);
        let shrunk = found_by(&CHECK, &[("a.rs", &long), (RATCHET, "460 a.rs\n")]);
        assert_eq!(shrunk, [format!("{RATCHET}:1: a.rs has only 450 lines now")]);
        assert_eq!(found_by(&CHECK, &[("b.rs", "//! x\n"), (RATCHET, "460 a.rs\n")]).len(), 1);
        assert_eq!(found_by(&CHECK, &[("a.rs", &long), (RATCHET, "450 a.rs\nmany b.rs\n")]).len(), 1);
    }

    #[test]
    fn update_lowers_and_removes_but_never_raises_or_adds() {
        let long = "//! x\n".repeat(450);
        let files = [
            ("shrunk.rs", long.as_str()),
            ("grown.rs", &long),
            ("small.rs", "//! x\n"),
            ("unlisted.rs", &long),
            (RATCHET, "# why\n\n500 shrunk.rs\n440 grown.rs\n500 small.rs\n500 gone.rs\n"),
        ];
        let text = lowered(&Tree::of(&files)).unwrap();
        assert_eq!(text, "# why\n\n450 shrunk.rs\n440 grown.rs\n");
        assert_eq!(lowered(&Tree::of(&[("shrunk.rs", &long), (RATCHET, "450 shrunk.rs\n")])), None);
    }
}
