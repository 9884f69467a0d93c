//! `cargo xtask header`: the C header, from the functions and comments of the C interface.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xtask_tools::generated;

/// The committed header, from the project's root.
const PATH: &str = "crates/oversleep-capi/include/oversleep.h";
const CRATE: &str = "crates/oversleep-capi";
/// The prefix of every name in it.
#[cfg(test)]
const PREFIX: &str = "oversleep_";
/// The modules, in the order that suits a reader. Every module is in this list or the next.
const MODULES: &[&str] = &[
    "version",
    "status",
    "clock",
    "outcome",
    "sleep",
    "pacer",
    "park",
    "backoff",
    "thread",
    "slack",
    "slice",
    "resolution",
];
/// Modules that export nothing to C. The root is one of them, because cbindgen would read all others a second time through
/// it.
const INNER: &[&str] = &["lib", "boundary", "tests"];

/// Runs the chore. Exit code 0: written, or current; 1: `--check` found it stale.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    generated::keep(root, "cargo xtask header", generated::only_checks("header", args)?, &[(PATH, document(root)?)])
}

/// The current header.
fn document(root: &Path) -> Result<String, String> {
    let config = cbindgen::Config::from_file(root.join(CRATE).join("cbindgen.toml"))
        .map_err(|e| format!("could not read cbindgen.toml: {e}"))?;
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in sources(root)? {
        builder = builder.with_src(source);
    }
    let bindings = builder.generate().map_err(|e| format!("could not make the header: {e}"))?;
    let mut header = Vec::new();
    bindings.write(&mut header);
    String::from_utf8(header).map_err(|e| format!("the header is not UTF-8: {e}"))
}

fn sources(root: &Path) -> Result<Vec<PathBuf>, String> {
    let src = root.join(CRATE).join("src");
    let entries = std::fs::read_dir(&src).map_err(|e| format!("could not read {}: {e}", src.display()))?;
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let module = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if !MODULES.contains(&module.as_str()) && !INNER.contains(&module.as_str()) {
            return Err(format!(
                "the module `{module}` has no place in the header; add it to MODULES or INNER in xtask/src/header.rs"
            ));
        }
    }
    Ok(MODULES.iter().map(|module| src.join(format!("{module}.rs"))).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_committed_header_is_current() {
        let root = crate::project_root();
        let committed = std::fs::read_to_string(root.join(PATH)).unwrap();
        assert!(committed == document(&root).unwrap(), "run `cargo xtask header` and review what changed in {PATH}");
    }

    /// The names after `before` in a text.
    fn functions(text: &str, before: &str) -> BTreeSet<String> {
        let words = text.match_indices(before).map(|(at, _)| &text[at + before.len()..]);
        words.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_exported_function_is_in_the_header_with_a_comment() {
        let root = crate::project_root();
        let header = std::fs::read_to_string(root.join(PATH)).unwrap();
        let lines: Vec<&str> = header.lines().collect();
        let sources: Vec<String> =
            sources(&root).unwrap().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let exported = functions(&sources.concat(), "extern \"C\" fn ");
        assert!(exported.len() > 40, "{exported:?}");
        for name in &exported {
            assert!(name.starts_with(PREFIX), "{name}");
            let at = lines.iter().position(|line| !line.starts_with(' ') && line.contains(&format!("{name}(")));
            let at = at.unwrap_or_else(|| panic!("{name} is not in the header"));
            assert_eq!(lines[at - 1], " */", "{name} has no comment");
            let declared = lines.iter().filter(|line| !line.starts_with(' ') && line.contains(&format!("{name}(")));
            assert_eq!(declared.count(), 1, "{name} is declared more than once");
        }
    }

    #[test]
    fn every_name_has_the_prefix_and_no_rust_shows() {
        let header = std::fs::read_to_string(crate::project_root().join(PATH)).unwrap();
        let macros = functions(&header, "#define ");
        assert!(macros.len() >= 4 && macros.iter().all(|name| name.starts_with("OVERSLEEP_")), "{macros:?}");
        for line in header.lines() {
            if let Some(name) = line.strip_prefix("} ").or_else(|| line.strip_prefix("typedef struct ")) {
                let named = name.starts_with(PREFIX) || name.starts_with('{') || name.ends_with("// extern \"C\"");
                assert!(named, "{line}");
            }
            assert!(!line.contains("[`") && !line.contains("::") && !line.contains("SAFETY"), "{line}");
        }
    }
}
