//! Relative links in Markdown lead to a file of the project, and their anchors to a heading in it. A path in backquotes
//! that begins at a directory or a crate of the project must exist; `<os>` stands for any system.

use super::Check;
use super::finding::Findings;
use crate::tree::Tree;

pub const CHECK: Check =
    Check { name: "doc-links", about: "links and paths in *.md lead to files and headings that exist", run };

fn run(tree: &Tree, findings: &mut Findings) {
    for file in tree.files().filter(|file| file.path.ends_with(".md")) {
        for (line, path) in paths_in_code(&file.text).into_iter().filter(|(_, path)| !is_there(tree, path)) {
            findings.add(
                &file.path,
                line,
                format!("`{path}` doesn't exist"),
                "correct the path, from the project's root",
            );
        }
        for (line, target) in links(&file.text) {
            if target.contains("://") || target.starts_with("mailto:") || target.starts_with("data:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').map_or((target.as_str(), None), |(p, a)| (p, Some(a)));
            let found = if path.is_empty() { Some(file.path.clone()) } else { resolve(&file.path, path) };
            let Some(found) = found.filter(|found| tree.has(found)) else {
                let what = format!("the link to `{target}` leads nowhere");
                findings.add(&file.path, line, what, "correct the path, from this file's directory");
                continue;
            };
            let Some(anchor) = anchor.filter(|_| found.ends_with(".md")) else { continue };
            if tree.get(&found).is_some_and(|to| !anchors(&to.text).iter().any(|a| a == anchor)) {
                findings.add(
                    &file.path,
                    line,
                    format!("{found} has no heading `#{anchor}`"),
                    "correct the anchor: the heading in small letters, with hyphens for spaces",
                );
            }
        }
    }
}

/// The paths in backquotes that begin at a directory of the project, or at a crate.
fn paths_in_code(text: &str) -> Vec<(usize, String)> {
    const BEGINS: &[&str] = &["crates/", "xtask/", "docs/", "schema/", "benches/", "fuzz/", "loom/"];
    const IN_CRATES: &[&str] = &["src", "tests", "profiles", "observations", "examples", "include"];
    let is_in_a_crate = |code: &str| {
        let mut parts = code.split('/');
        parts.next().is_some_and(|name| name.starts_with("oversleep"))
            && parts.next().is_some_and(|p| IN_CRATES.contains(&p))
    };
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        for code in line.split('`').skip(1).step_by(2) {
            let is_path = is_in_a_crate(code) || BEGINS.iter().any(|begin| code.starts_with(begin));
            let is_plain = code.replace("<os>", "").chars().all(|c| c.is_alphanumeric() || "/_-.".contains(c));
            if is_path && is_plain {
                found.push((i + 1, code.to_owned()));
            }
        }
    }
    found
}

fn is_there(tree: &Tree, path: &str) -> bool {
    ["linux", "windows", "macos"].iter().any(|os| {
        let path = path.trim_end_matches('/').replace("<os>", os);
        tree.has(&path) || tree.has(&format!("crates/{path}"))
    })
}

/// `to` relative to the directory of `from`; `None` if it leads out of the project.
fn resolve(from: &str, to: &str) -> Option<String> {
    let to = to.replace("%20", " ");
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    if to.starts_with('/') {
        parts.clear();
    }
    for part in to.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The lines outside fenced blocks, counted from 1, with code spans blanked.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter_map(move |(i, line)| {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => return Some((i + 1, without_code(line))),
            _ => {}
        }
        None
    })
}

fn without_code(line: &str) -> String {
    let mut parts = line.split('`');
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let Some(code) = parts.next() {
        match parts.next() {
            Some(after) => {
                text.push('`');
                text.push_str(after);
            }
            // A lone backtick opens nothing.
            None => text.push_str(code),
        }
    }
    text
}

/// The target of every `](…)`, `[name]: …`, `src="…"` and `href="…"`.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let mut add = |target: &str| {
            let target = target.trim().trim_start_matches('<');
            // The title follows a space.
            let target = target.split([' ', '>']).next().unwrap_or(target);
            if !target.is_empty() {
                found.push((number, target.to_owned()));
            }
        };
        for (open, close) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
            for part in line.split(open).skip(1) {
                add(part.split_once(close).map_or(part, |(target, _)| target));
            }
        }
        if let Some((name, target)) = line.trim_start().strip_prefix('[').and_then(|l| l.split_once("]:"))
            && !name.contains(']')
            && !name.starts_with('^')
        {
            add(target);
        }
    }
    found
}

/// The anchors of a page: its headings as named by the usual renderers, and those given in HTML.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for attribute in ["id=\"", "name=\""] {
            for part in line.split(attribute).skip(1) {
                found.extend(part.split_once('"').map(|(id, _)| id.to_owned()));
            }
        }
        let hashes = line.chars().take_while(|&c| c == '#').count();
        if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
            let base = slug(line[hashes..].trim());
            let before = found.iter().filter(|a| **a == base).count();
            let earlier = (1..).take_while(|n| found.contains(&format!("{base}-{n}"))).count();
            found.push(if before == 0 { base } else { format!("{base}-{}", earlier + 1) });
        }
    }
    found
}

fn slug(heading: &str) -> String {
    // Only the text of a link counts.
    let mut text = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    fn page(text: &str) -> Vec<String> {
        found_by(
            &CHECK,
            &[
                ("docs/page.md", text),
                ("docs/other.md", "# Other page\n## Why, *exactly*?\n## Why, exactly?\n<a id=\"here\"></a>\n"),
                ("README.md", "# Read\n"),
            ],
        )
    }

    #[test]
    fn links_that_lead_somewhere_are_fine() {
        for text in [
            "[a](other.md) and [b](../README.md), [c](./other.md#other-page) ![d](/docs/other.md \"title\")",
            "[a](other.md#why-exactly) [b](other.md#why-exactly-1) [c](other.md#here) [dir](../docs)",
            "# One `two`\n[up](#one-two)",
            "[a](https://a.org/x.md) [b](mailto:a@b.org)",
            "`[a](gone.md)`\n```\n[a](gone.md)\n```",
            "[a]: other.md\n[^1]: gone.md says so",
            "<img src=\"other.md\">",
        ] {
            assert!(page(text).is_empty(), "{text}: {:?}", page(text));
        }
    }

    #[test]
    fn paths_in_backquotes_exist() {
        for text in ["`docs/page.md`", "`docs/`", "`a/b`", "`oversleep`", "`crates/*/x`", "```\ncrates/gone\n```"] {
            assert!(page(text).is_empty(), "{text}: {:?}", page(text));
        }
        assert_eq!(page("a\n`docs/gone.md`"), ["docs/page.md:2: `docs/gone.md` doesn't exist"]);
        assert_eq!(page("`oversleep-gone/src/`").len(), 1);
        let with_system =
            [("a.md", "`oversleep-x/src/<os>/waits/`"), ("crates/oversleep-x/src/windows/waits/mod.rs", "")];
        assert!(found_by(&CHECK, &with_system).is_empty());
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        assert_eq!(page("\n[a](gone.md)"), ["docs/page.md:2: the link to `gone.md` leads nowhere"]);
        assert_eq!(page("[a](other.md#gone)"), ["docs/page.md:1: docs/other.md has no heading `#gone`"]);
        for text in ["[a](../../README.md)", "[a](#gone)", "[a]: gone.md", "<a href=\"gone.md\">", "![a](gone.png)"] {
            assert_eq!(page(text).len(), 1, "{text}");
        }
        assert_eq!(page("[a](gone.md) [b](other.md) [c](away.md)").len(), 2);
    }
}
