//! The tracked text files of the project, read once. Checks see nothing else.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::rust::Source;

/// Generated files that no check reads, but to which links may point.
const BUILT: &[&str] = &["crates/oversleep-cli/oversleep.html"];

/// A text file; Rust files have their scanned form as well.
pub struct File {
    /// From the project's root, with `/` on every system.
    pub path: String,
    pub text: String,
    pub rust: Option<Source>,
}

impl File {
    /// The scanned form. Only for files from [`Tree::rust_files`].
    pub fn source(&self) -> &Source {
        self.rust.as_ref().expect("a .rs file is scanned when it is read")
    }
}

/// All files by path.
#[derive(Default)]
pub struct Tree {
    files: BTreeMap<String, File>,
    /// Links, and files that aren't UTF-8: documents may point to them, and no check reads them.
    opaque: Vec<String>,
}

impl Tree {
    /// The files that git tracks or would track; without git (an unpacked archive), every file outside build output.
    pub fn read(root: &Path) -> Result<Self, String> {
        let paths = match listed_by_git(root) {
            Some(paths) if !paths.is_empty() => paths,
            _ => {
                let mut paths = Vec::new();
                walk(root, "", &mut paths)?;
                paths
            }
        };
        let mut tree = Self::default();
        for path in paths {
            let on_disk = root.join(&path);
            // A tracked file may be deleted in the working tree.
            let Ok(metadata) = std::fs::symlink_metadata(&on_disk) else { continue };
            if !metadata.is_file() {
                // A link's target is in the list itself, so no check reads it twice.
                if on_disk.is_file() {
                    tree.opaque.push(path);
                }
                continue;
            }
            let bytes = std::fs::read(&on_disk).map_err(|e| format!("could not read {path}: {e}"))?;
            match String::from_utf8(bytes) {
                Ok(text) if !BUILT.contains(&path.as_str()) => tree.insert(path, text),
                _ => tree.opaque.push(path),
            }
        }
        Ok(tree)
    }

    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.insert((*path).to_owned(), (*text).to_owned());
        }
        tree
    }

    fn insert(&mut self, path: String, text: String) {
        let rust = path.ends_with(".rs").then(|| Source::scan(&text));
        self.files.insert(path.clone(), File { path, text, rust });
    }

    pub fn len(&self) -> usize {
        self.files.len() + self.opaque.len()
    }

    /// The paths and texts of all files.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files().map(|file| (file.path.as_str(), file.text.as_str()))
    }

    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.files.values()
    }

    pub fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files().filter(|file| file.rust.is_some())
    }

    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// Whether there is a file or a directory with this name.
    pub fn has(&self, path: &str) -> bool {
        let below = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.range(below.clone()..).next().is_some_and(|(p, _)| p.starts_with(&below))
            || self.opaque.iter().any(|p| p == path || p.starts_with(&below))
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let out = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .ok()?;
    if !out.status.success() {
        return None;
    }
    let text = String::from_utf8(out.stdout).ok()?;
    Some(text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn walk(root: &Path, under: &str, paths: &mut Vec<String>) -> Result<(), String> {
    let dir = root.join(under);
    let entries = std::fs::read_dir(&dir).map_err(|e| format!("could not list {}: {e}", dir.display()))?;
    for entry in entries {
        let entry = entry.map_err(|e| format!("could not list {}: {e}", dir.display()))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if under.is_empty() { name.clone() } else { format!("{under}/{name}") };
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            if !matches!(name.as_str(), "target" | ".git") && !path.starts_with("fuzz/corpus") {
                walk(root, &path, paths)?;
            }
        } else if kind.is_file() || kind.is_symlink() {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_files_and_directories() {
        let tree = Tree::of(&[("docs/a.md", ""), ("docs-more/b.md", "")]);
        assert!(tree.has("docs") && tree.has("docs/a.md") && tree.has("docs-more"));
        assert!(!tree.has("doc") && !tree.has("docs/b.md"));
    }

    #[test]
    fn a_directory_without_git_is_walked_without_build_output() {
        let root = std::env::temp_dir().join(format!("oversleep-tidy-{}", std::process::id()));
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir_all(root.join("target/debug")).unwrap();
        std::fs::write(root.join("src/lib.rs"), "//! Text.\n").unwrap();
        std::fs::write(root.join("logo.bin"), [0xff, 0xfe]).unwrap();
        std::fs::write(root.join("target/debug/x.rs"), "").unwrap();
        let tree = Tree::read(&root).unwrap();
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(tree.rust_files().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["src/lib.rs"]);
        assert!(tree.has("logo.bin") && !tree.has("target"));
    }
}
