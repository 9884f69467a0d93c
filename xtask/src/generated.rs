//! Files that a chore generates, and `--check`, which only compares them.

use std::path::Path;
use std::process::ExitCode;

/// Whether these arguments of a chore are `--check` rather than none.
pub fn only_checks(chore: &str, args: &[String]) -> Result<bool, String> {
    match args {
        [] => Ok(false),
        [one] if one == "--check" => Ok(true),
        _ => Err(format!("{chore} takes --check, not `{}`", args.join(" "))),
    }
}

/// Writes the files that a chore generates, each as its path from the root and its text, or compares them with the
/// existing ones. Exit code 0: written, or current; 1: `--check` found one stale.
pub fn keep(root: &Path, chore: &str, args: &[String], files: &[(&str, String)]) -> Result<ExitCode, String> {
    let checks = only_checks(chore, args)?;
    let mut code = ExitCode::SUCCESS;
    for (path, text) in files {
        let file = root.join(path);
        if !checks {
            std::fs::write(&file, text).map_err(|e| format!("could not write {path}: {e}"))?;
            println!("{chore}: wrote {path}");
        } else if std::fs::read_to_string(&file).map_err(|e| format!("could not read {path}: {e}"))? == *text {
            println!("{chore}: {path} is current");
        } else {
            println!("{path} is stale; run `cargo xtask {chore}` and review what changed");
            code = ExitCode::from(1);
        }
    }
    Ok(code)
}
