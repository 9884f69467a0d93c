//! The notes of a release: the changelog's section of that version, or what is unreleased as long as it has none.

use std::path::PathBuf;

use crate::packages::product;
use crate::packages::yard::{Refusal, Yard};

/// Writes the notes.
pub fn write(yard: &Yard) -> Result<Vec<PathBuf>, Refusal> {
    let changelog = product::read(&yard.root.join("CHANGELOG.md"))?;
    let section =
        section(&changelog, &product::version(&yard.root)?).ok_or_else(|| "CHANGELOG.md has no section".to_owned())?;
    Ok(vec![product::write(&yard.dist.join("NOTES.md"), section)?])
}

/// The text below the head of a version (`## 1.2.3`, with or without its date), or of what is unreleased.
fn section(changelog: &str, version: &str) -> Option<String> {
    let below = |name: &str| {
        let mut lines = changelog.lines();
        let is_head = |line: &str| {
            let mut words = line.strip_prefix("## ").unwrap_or_default().split(' ');
            words.next().is_some_and(|word| word.trim_matches(['[', ']']) == name)
        };
        lines.find(|line| is_head(line))?;
        let text: Vec<&str> = lines.take_while(|line| !line.starts_with("## ")).collect();
        Some(format!("{}\n", text.join("\n").trim()))
    };
    below(version).or_else(|| below("Unreleased"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str =
        "# Changelog\n\n## Unreleased\n\nNew.\n\n### More\n\n- it\n\n## 1.2.0 (2026-09-21)\n\nOld.\n";

    #[test]
    fn notes_are_those_of_the_version_or_of_what_is_unreleased() {
        assert_eq!(section(CHANGELOG, "1.2.0").as_deref(), Some("Old.\n"));
        assert_eq!(section(CHANGELOG, "1.3.0").as_deref(), Some("New.\n\n### More\n\n- it\n"));
        assert_eq!(section("# Changelog\n", "1.3.0"), None);
    }
}
