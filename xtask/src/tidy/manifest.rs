//! Reads the package's name and its dependencies from a Cargo.toml. One that isn't valid TOML has none.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// One line of a dependency table.
#[derive(Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The package's name, even if the line renames it.
    pub name: String,
    pub dev: bool,
    pub is_optional: bool,
    pub line: usize,
}

/// The name in `[package]`, if any.
pub fn package_name(text: &str) -> Option<String> {
    let manifest = DeTable::parse(text).ok()?;
    Some(manifest.get_ref().get("package")?.get_ref().get("name")?.get_ref().as_str()?.to_owned())
}

/// Whether `cargo test` runs the examples in the library's documentation.
pub fn runs_examples(text: &str) -> bool {
    let Ok(manifest) = DeTable::parse(text) else { return true };
    let library = manifest.get_ref().get("lib").and_then(|lib| lib.get_ref().get("doctest"));
    library.and_then(|value| value.get_ref().as_bool()) != Some(false)
}

/// Everything in `[dependencies]`, `[dev-dependencies]`, `[build-dependencies]` and their `[target.….]` forms.
pub fn dependencies(text: &str) -> Vec<Dependency> {
    let Ok(manifest) = DeTable::parse(text) else { return Vec::new() };
    let manifest = manifest.get_ref();
    let targets = tables(manifest, "target").flat_map(|(_, target)| target.get_ref().as_table());
    let mut found = Vec::new();
    for place in std::iter::once(manifest).chain(targets) {
        for (kind, dev) in [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)] {
            for (key, value) in tables(place, kind) {
                let renamed = value.get_ref().get("package").and_then(|name| DeValue::as_str(name.get_ref()));
                let line = text[..key.span().start].matches('\n').count() + 1;
                let is_optional = value.get_ref().get("optional").and_then(|value| value.get_ref().as_bool());
                found.push(Dependency {
                    name: renamed.unwrap_or(key.get_ref()).to_owned(),
                    dev,
                    is_optional: is_optional == Some(true),
                    line,
                });
            }
        }
    }
    found
}

/// The contents of the tables with that name.
fn tables<'a, 'i>(
    place: &'a DeTable<'i>,
    name: &str,
) -> impl Iterator<Item = (&'a Spanned<DeString<'i>>, &'a Spanned<DeValue<'i>>)> + use<'a, 'i> {
    place.get(name).and_then(|value| value.get_ref().as_table()).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[package]
name = "oversleep-lab" # the laboratory
version.workspace = true

[dependencies]
oversleep.workspace = true
serde = { version = "1", features = ["derive"] }
short = { package = "oversleep-record", path = "../oversleep-record" }
# off = "1"

[target.'cfg(target_arch = "x86.64")'.dependencies]
raw-cpuid = "11"

[dev-dependencies.proptest]
version = "1"

[features]
schema = ["dep:schemars"]
"#;

    #[test]
    fn every_form_of_a_dependency_is_read() {
        let mut found = dependencies(TEXT);
        found.sort_by_key(|dependency| dependency.line);
        let names: Vec<_> = found.iter().map(|d| (d.name.as_str(), d.dev)).collect();
        let normal = ["oversleep", "serde", "oversleep-record", "raw-cpuid"].map(|name| (name, false));
        assert_eq!(names, [&normal[..], &[("proptest", true)]].concat());
        assert_eq!(found[0].line, 7);
    }

    #[test]
    fn the_package_is_named() {
        assert_eq!(package_name(TEXT).as_deref(), Some("oversleep-lab"));
        assert_eq!(package_name("[workspace]\nname = \"x\"\n"), None);
    }
}
