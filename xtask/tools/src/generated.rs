//! Files and parts of files that are generated, and `--check`, which only compares them.

use std::path::Path;
use std::process::ExitCode;

/// Whether these arguments of a command are `--check` rather than none.
pub fn only_checks(command: &str, args: &[String]) -> Result<bool, String> {
    match args {
        [] => Ok(false),
        [one] if one == "--check" => Ok(true),
        _ => Err(format!("{command} takes --check, not `{}`", args.join(" "))),
    }
}

/// Writes the files that a command generates, each as its path from the root and its text, or compares them with the
/// existing ones. Exit code 0: written, or current; 1: one is stale.
pub fn keep(root: &Path, writer: &str, checks: bool, files: &[(&str, String)]) -> Result<ExitCode, String> {
    let mut code = ExitCode::SUCCESS;
    for (path, text) in files {
        let file = root.join(path);
        if !checks {
            std::fs::write(&file, text).map_err(|e| format!("could not write {path}: {e}"))?;
            println!("{path} is written");
        } else if std::fs::read_to_string(&file).map_err(|e| format!("could not read {path}: {e}"))? == *text {
            println!("{path} is current");
        } else {
            println!("{path} is stale; run `{writer}` and review what changed");
            code = ExitCode::from(1);
        }
    }
    Ok(code)
}

/// The page with that text between the part's markers; `None` if they are missing.
pub fn with_part(page: &str, name: &str, writer: &str, text: &str) -> Option<String> {
    let [begin, end] = markers(name, writer);
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{}\n{end}{after}", text.trim_end()))
}

/// The lines around a part in a page written by hand; `writer` is the command that writes it.
pub fn markers(name: &str, writer: &str) -> [String; 2] {
    [format!("<!-- begin {name}: written by `{writer}` -->"), format!("<!-- end {name} -->")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_written_between_its_markers_and_nowhere_else() {
        let [begin, end] = markers("x", "cargo xtask docs");
        let with = |page: &str| with_part(page, "x", "cargo xtask docs", "| a |\n");
        let page = with(&format!("# A\n{begin}\nold\n{end}\ntext\n")).unwrap();
        assert_eq!(page, format!("# A\n{begin}\n| a |\n{end}\ntext\n"));
        assert_eq!(with(&page), Some(page.clone()));
        assert_eq!(with("# A\n"), None);
    }
}
