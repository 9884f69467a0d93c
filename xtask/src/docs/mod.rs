//! `cargo xtask docs`: generates pages of `docs/` and tables of other pages from the registries.
//!
//! A page is a whole file; a part is between two markers in a page written by hand. `tidy` compares both with the tree,
//! so no page duplicates a registry by hand.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use xtask_tools::generated;

use crate::tree::Tree;

mod counts;
mod experiments;
mod findings;
mod platform;
mod published;

/// A file that the chore writes whole.
struct Page {
    path: String,
    text: String,
}

/// The text between `<!-- begin NAME … -->` and `<!-- end NAME -->` in a page written by hand.
struct Part {
    path: &'static str,
    name: String,
    text: String,
}

/// Directories that contain only pages of this chore.
const DIRECTORIES: &[&str] = &["docs/findings/", "docs/experiments/"];
/// How to mend a stale page.
const WRITER: &str = "cargo xtask docs";
const REMEDY: &str = "run `cargo xtask docs` and commit what it wrote";

/// A file that disagrees with the registries.
pub struct Stale {
    pub path: String,
    mend: Mend,
}

enum Mend {
    Write(String),
    Remove,
    /// The marker of this part is missing.
    AddMarker(String),
    /// No registry has this part.
    RemoveMarker(String),
}

/// Runs the chore. Exit code 0: written, or current; 1: `--check` found something stale.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let only_checks = generated::only_checks("docs", args)?;
    let tree = Tree::read(root)?;
    if let Some(fault) = xtask_tools::platform::read(tree.texts()).1.first() {
        return Err(format!("{}:{}: {}", fault.path, fault.line, fault.what));
    }
    let stale = stale(&tree);
    for file in &stale {
        let (what, remedy) = file.sentences();
        if only_checks {
            println!("{}: {what}; {remedy}", file.path);
        } else {
            file.mend(root)?;
            println!("docs: {}: mended, {what}", file.path);
        }
    }
    if stale.is_empty() {
        println!("docs: every page is current");
    }
    Ok(ExitCode::from(u8::from(only_checks && !stale.is_empty())))
}

impl Stale {
    /// The fault, and its remedy.
    pub fn sentences(&self) -> (String, String) {
        match &self.mend {
            Mend::Write(_) => ("it doesn't say what the registries say".to_owned(), REMEDY.to_owned()),
            Mend::Remove => ("no registry has an entry for it".to_owned(), REMEDY.to_owned()),
            Mend::AddMarker(name) => {
                let [begin, end] = generated::markers(name, WRITER);
                (
                    format!("the part `{name}` has no place"),
                    format!("add the lines `{begin}` and `{end}` where it goes"),
                )
            }
            Mend::RemoveMarker(name) => {
                (format!("no registry has the part `{name}`"), "remove its lines, and what is between them".to_owned())
            }
        }
    }

    fn mend(&self, root: &Path) -> Result<(), String> {
        let path = root.join(&self.path);
        let done = match &self.mend {
            Mend::Write(text) => {
                let directory = path.parent().unwrap_or(root);
                std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&path, text))
            }
            Mend::Remove => std::fs::remove_file(&path),
            Mend::AddMarker(_) | Mend::RemoveMarker(_) => {
                let (what, remedy) = self.sentences();
                return Err(format!("{}: {what}; {remedy}", self.path));
            }
        };
        done.map_err(|e| format!("could not write {}: {e}", self.path))
    }
}

/// The files of a tree that are stale.
pub fn stale(tree: &Tree) -> Vec<Stale> {
    let mut stale = Vec::new();
    let pages: Vec<Page> =
        findings::pages().into_iter().chain(experiments::pages()).chain(published::pages(tree)).collect();
    for file in tree.files().filter(|file| DIRECTORIES.iter().any(|directory| file.path.starts_with(directory))) {
        if !pages.iter().any(|page| page.path == file.path) {
            stale.push(Stale { path: file.path.clone(), mend: Mend::Remove });
        }
    }
    for page in pages {
        if tree.get(&page.path).is_none_or(|file| file.text != page.text) {
            stale.push(Stale { path: page.path, mend: Mend::Write(page.text) });
        }
    }
    let parts: Vec<Part> = counts::parts(tree).into_iter().chain(platform::parts(tree)).collect();
    let paths: BTreeSet<&str> = parts.iter().map(|part| part.path).collect();
    for path in paths {
        let Some(file) = tree.get(path) else { continue };
        let mut text = file.text.clone();
        for part in parts.iter().filter(|part| part.path == path) {
            match generated::with_part(&text, &part.name, WRITER, &part.text) {
                Some(with) => text = with,
                None => stale.push(Stale { path: path.to_owned(), mend: Mend::AddMarker(part.name.clone()) }),
            }
        }
        for name in marked(&text).filter(|name| !parts.iter().any(|part| part.path == path && part.name == *name)) {
            stale.push(Stale { path: path.to_owned(), mend: Mend::RemoveMarker(name.to_owned()) });
        }
        if text != file.text {
            stale.push(Stale { path: path.to_owned(), mend: Mend::Write(text) });
        }
    }
    stale
}

/// The parts that a page has markers for.
fn marked(text: &str) -> impl Iterator<Item = &str> {
    text.split("<!-- begin ").skip(1).filter_map(|rest| Some(rest.split_once(": written by `cargo xtask docs` -->")?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        stale(&Tree::of(files)).iter().map(|file| format!("{}: {}", file.path, file.sentences().0)).collect()
    }

    #[test]
    fn pages_that_are_missing_changed_or_left_over_are_stale() {
        let all = findings::pages().len() + experiments::pages().len();
        let missing = found(&[]);
        assert_eq!(missing.len(), all);
        assert!(missing.contains(&"docs/experiments/B5.md: it doesn't say what the registries say".to_owned()));
        let first = findings::pages().remove(0);
        assert_eq!(found(&[(&first.path, &first.text)]).len(), all - 1);
        let left = found(&[("docs/findings/OVS-X999.md", "# Gone\n"), ("docs/guide.md", "# Guide\n")]);
        assert_eq!(left[0], "docs/findings/OVS-X999.md: no registry has an entry for it");
        assert_eq!(left.len(), all + 1);
    }

    #[test]
    fn a_part_that_no_registry_has_is_stale() {
        let [begin, end] = generated::markers("calls linux/gone", WRITER);
        let stale = found(&[("docs/platform/linux.md", &format!("{begin}\n| a |\n{end}\n"))]);
        assert!(
            stale.contains(&"docs/platform/linux.md: no registry has the part `calls linux/gone`".to_owned()),
            "{stale:?}"
        );
    }
}
