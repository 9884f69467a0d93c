//! Reads the package's name and its dependencies from a Cargo.toml.

/// One line of a dependency table.
#[derive(Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The package's name, also where the line renames it.
    pub name: String,
    pub dev: bool,
    pub line: usize,
}

/// The name in `[package]`, if any.
pub fn package_name(text: &str) -> Option<String> {
    let mut table = "";
    for line in text.lines().map(str::trim) {
        if let Some(header) = table_header(line) {
            table = header;
        } else if table == "package"
            && let Some((key, value)) = line.split_once('=')
            && key.trim() == "name"
        {
            return quoted(value);
        }
    }
    None
}

/// Everything in `[dependencies]`, `[dev-dependencies]`, `[build-dependencies]` and their `[target.….]` forms.
pub fn dependencies(text: &str) -> Vec<Dependency> {
    let mut found: Vec<Dependency> = Vec::new();
    let mut table = None;
    for (number, line) in text.lines().enumerate() {
        let (line, number) = (line.trim(), number + 1);
        if let Some(header) = table_header(line) {
            table = dependency_table(header);
            if let Some(Table { dev, one: Some(name) }) = &table {
                found.push(Dependency { name: name.clone(), dev: *dev, line: number });
            }
            continue;
        }
        let (Some(table), Some((key, value))) = (&table, line.split_once('=')) else { continue };
        if line.starts_with('#') {
            continue;
        }
        if table.one.is_some() {
            if key.trim() == "package"
                && let (Some(name), Some(last)) = (quoted(value), found.last_mut())
            {
                last.name = name;
            }
            continue;
        }
        let key = key.trim().trim_matches('"');
        let name = renamed(value).unwrap_or_else(|| key.split('.').next().unwrap_or(key).to_owned());
        found.push(Dependency { name, dev: table.dev, line: number });
    }
    found
}

struct Table {
    dev: bool,
    /// `[dependencies.one]` describes this one dependency.
    one: Option<String>,
}

fn table_header(line: &str) -> Option<&str> {
    let line = line.split(" #").next().unwrap_or(line).trim_end();
    line.strip_prefix('[')?.trim_start_matches('[').strip_suffix(']').map(|h| h.trim_end_matches(']').trim())
}

fn dependency_table(header: &str) -> Option<Table> {
    // The condition of a `target.'cfg(…)'` table may hold dots: only what follows it counts.
    let tail = match header.strip_prefix("target.") {
        Some(rest) => match rest.chars().next() {
            Some(quote @ ('\'' | '"')) => rest[1..].split_once(quote)?.1.strip_prefix('.')?,
            _ => rest.split_once('.')?.1,
        },
        None => header,
    };
    let (kind, one) = tail.split_once('.').map_or((tail, None), |(kind, one)| (kind, Some(one.to_owned())));
    match kind {
        "dependencies" | "build-dependencies" => Some(Table { dev: false, one }),
        "dev-dependencies" => Some(Table { dev: true, one }),
        _ => None,
    }
}

fn renamed(value: &str) -> Option<String> {
    let after = value.split_once("package")?.1.trim_start();
    quoted(after.strip_prefix('=')?)
}

fn quoted(value: &str) -> Option<String> {
    let inside = value.trim().strip_prefix('"')?;
    inside.split_once('"').map(|(name, _)| name.to_owned())
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
        let found = dependencies(TEXT);
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
