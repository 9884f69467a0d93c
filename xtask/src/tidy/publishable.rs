//! A crate that may be published tells its users what it is, carries its licences, and has every file that it is built from:
//! `cargo package` takes the files of its folder only. Fields that all crates share are stated in the root's manifest.

use toml::Table;

use super::Check;
use super::finding::Findings;
use super::test_code::TestCode;
use crate::tree::{File, Tree};

pub const CHECK: Check = Check {
    name: "publishable",
    about: "a crate has its metadata, README, licences, and no file of another folder",
    run,
};

/// What crates.io shows. With `rust-version`, Cargo chooses a version that a user's compiler can build.
const FIELDS: &[&str] = &[
    "description",
    "version",
    "edition",
    "rust-version",
    "license",
    "repository",
    "homepage",
    "keywords",
    "categories",
];
/// Those that are the same in all crates.
const SHARED: &[&str] = &["version", "edition", "rust-version", "license", "repository", "homepage"];
const FILES: &[&str] = &["README.md", "LICENSE-MIT", "LICENSE-APACHE"];
/// Macros that read a file when the crate is compiled.
const INCLUDES: &[&str] = &["include_str", "include_bytes", "include"];

fn run(tree: &Tree, findings: &mut Findings) {
    let tests = TestCode::of(tree);
    for file in tree.files() {
        let Some(directory) = file.path.strip_suffix("/Cargo.toml") else { continue };
        if !directory.starts_with("crates/") || directory.matches('/').count() != 1 {
            // A manifest in a folder of a crate hides that folder from the crate's package.
            if directory.starts_with("crates/") {
                let remedy = "give the file another name, such as `Cargo.toml.in`";
                findings.add(&file.path, 1, "cargo leaves a folder with a manifest out of the package", remedy);
            }
            continue;
        }
        let Some(package) = package(&file.text) else { continue };
        if package.get("publish").and_then(toml::Value::as_bool) == Some(false) {
            continue;
        }
        for field in FIELDS.iter().filter(|field| !package.contains_key(**field)) {
            let remedy = match SHARED.contains(field) {
                true => format!("add `{field}.workspace = true`"),
                false => format!("add `{field}`, or `publish = false`"),
            };
            findings.add(&file.path, 1, format!("a crate that may be published has no {field}"), remedy);
        }
        for field in SHARED {
            if package.get(*field).is_some_and(|value| !value.is_table()) {
                let remedy = format!("write `{field}.workspace = true`");
                findings.add(&file.path, 1, format!("{field} is stated twice"), remedy);
            }
        }
        for name in FILES.iter().filter(|name| !tree.has(&format!("{directory}/{name}"))) {
            let remedy = "add it; a licence is a link to that of the project";
            findings.add(&file.path, 1, format!("a crate that may be published has no {name}"), remedy);
        }
        let of_crate = format!("{directory}/");
        for source in tree.rust_files().filter(|source| source.path.starts_with(&of_crate)) {
            foreign_files(source, &of_crate, &tests, findings);
        }
    }
}

/// The table `[package]`.
fn package(text: &str) -> Option<Table> {
    let manifest: Table = text.parse().ok()?;
    manifest.get("package")?.as_table().cloned()
}

/// Files of other folders that the crate is compiled with.
fn foreign_files(file: &File, of_crate: &str, tests: &TestCode, findings: &mut Findings) {
    let is_build = file.path == format!("{of_crate}build.rs");
    if tests.holds_all(file) || !(is_build || file.path.starts_with(&format!("{of_crate}src/"))) {
        return;
    }
    let test_lines = tests.lines(file);
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (i, line) in file.text.lines().enumerate() {
        let is_included = INCLUDES.iter().any(|name| line.contains(&format!("{name}!(")));
        if !(is_included || is_build) || test_lines.contain(i + 1) {
            continue;
        }
        let literals = line.split('"').skip(1).step_by(2);
        for path in literals.filter(|path| path.contains("../") && leaves(folder, path, of_crate)) {
            let remedy = "move the file into the crate; its package has no other";
            findings.add(&file.path, i + 1, format!("{path} is not in the crate"), remedy);
        }
    }
}

/// Whether a path from a folder on leads out of the crate.
fn leaves(folder: &str, path: &str, of_crate: &str) -> bool {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            name => parts.push(name),
        }
    }
    !format!("{}/", parts.join("/")).starts_with(of_crate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    const COMPLETE: &str = "[package]\nname = \"oversleep-a\"\ndescription = \"A.\"\nversion.workspace = true\n\
        edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\nrepository.workspace = true\n\
        homepage.workspace = true\nkeywords = [\"a\"]\ncategories = [\"b\"]\n";

    fn found(manifest: &str, files: &[(&str, &str)]) -> Vec<String> {
        let mut all = vec![("crates/a/Cargo.toml", manifest)];
        all.extend(files);
        found_by(&CHECK, &all)
    }

    const TEXTS: [(&str, &str); 3] =
        [("crates/a/README.md", "# A\n"), ("crates/a/LICENSE-MIT", "MIT\n"), ("crates/a/LICENSE-APACHE", "Apache\n")];

    #[test]
    fn a_crate_without_metadata_or_licence_is_refused() {
        assert!(found(COMPLETE, &TEXTS).is_empty());
        for field in FIELDS {
            let without: String =
                COMPLETE.lines().filter(|line| !line.starts_with(field)).map(|l| format!("{l}\n")).collect();
            let expected = format!("crates/a/Cargo.toml:1: a crate that may be published has no {field}");
            assert_eq!(found(&without, &TEXTS), [expected]);
        }
        for (path, _) in TEXTS {
            let others: Vec<_> = TEXTS.into_iter().filter(|(other, _)| *other != path).collect();
            let name = path.rsplit('/').next().unwrap();
            let expected = format!("crates/a/Cargo.toml:1: a crate that may be published has no {name}");
            assert_eq!(found(COMPLETE, &others), [expected]);
        }
        assert!(found("[package]\nname = \"oversleep-a\"\npublish = false\n", &[]).is_empty());
    }

    #[test]
    fn what_all_crates_share_is_stated_once() {
        let own = COMPLETE.replace("license.workspace = true", "license = \"MIT\"");
        assert_eq!(found(&own, &TEXTS), ["crates/a/Cargo.toml:1: license is stated twice"]);
    }

    #[test]
    fn a_file_of_another_folder_is_not_in_the_package() {
        let with = |path: &'static str, text: &str| {
            let text = text.to_owned();
            let mut files = TEXTS.to_vec();
            files.push((path, &text));
            found(COMPLETE, &files)
        };
        let include = |file: &str| format!("const A: &str = include_str!(\"{file}\");\n");
        assert!(with("crates/a/src/b/c.rs", &include("../../data.toml")).is_empty());
        let outside = ["crates/a/src/b/c.rs:1: ../../../data.toml is not in the crate"];
        assert_eq!(with("crates/a/src/b/c.rs", &include("../../../data.toml")), outside);
        assert!(with("crates/a/tests/all.rs", &include("../../../schema/a.json")).is_empty());
        let in_test = format!("#[cfg(test)]\nmod tests {{\n    {}}}\n", include("../../../docs/a.md"));
        assert!(with("crates/a/src/lib.rs", &in_test).is_empty());
        let build = "fn main() {\n    let a = here.join(\"../../probes\");\n}\n";
        assert_eq!(with("crates/a/build.rs", build), ["crates/a/build.rs:2: ../../probes is not in the crate"]);
    }

    #[test]
    fn a_manifest_inside_of_a_crate_hides_its_folder() {
        let mut files = TEXTS.to_vec();
        files.push(("crates/a/probes/b/Cargo.toml", "[package]\nname = \"b\"\n"));
        let hidden = "crates/a/probes/b/Cargo.toml:1: cargo leaves a folder with a manifest out of the package";
        assert_eq!(found(COMPLETE, &files), [hidden]);
    }
}
