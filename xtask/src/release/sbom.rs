//! What the command is made of, as CycloneDX describes it (<https://cyclonedx.org>): every crate with its version, licence
//! and sum. `cargo-cyclonedx` (Apache-2.0, by the OWASP project that owns the format) writes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::packages::product;
use crate::packages::yard::{FEATURES, Refusal, Yard, run};

pub const TOOL: &str = "cargo-cyclonedx";
const TOOL_VERSION: &str = "0.5.9";

/// Writes the list.
pub fn write(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
    let tool = tool(yard).map_err(Refusal::Missing)?;
    // It writes a file beside each manifest, so it gets manifests of its own.
    let copy = yard.empty("sbom")?;
    for name in ["Cargo.toml", "Cargo.lock", "crates", "benches", "examples"] {
        run(Command::new("cp").args(["-R", "--"]).arg(yard.root.join(name)).arg(&copy))?;
    }
    let mut list = Command::new(tool);
    list.args(["cyclonedx", "--quiet", "--format", "json", "--spec-version", "1.5", "--override-filename", "sbom"]);
    // The list is that of Linux, which has the most crates.
    list.args(["--features", FEATURES, "--target", "x86_64-unknown-linux-gnu", "--manifest-path"])
        .arg(copy.join("crates/oversleep-cli/Cargo.toml"));
    run(list.env("SOURCE_DATE_EPOCH", product::epoch_s(&yard.root)?.to_string()).current_dir(&copy))?;
    let text = product::read(&copy.join("crates/oversleep-cli/sbom.json"))?;
    let file = yard.dist.join(format!("oversleep-{}.cdx.json", product::version(&yard.root)?));
    Ok(vec![product::write(&file, anywhere(&text, &copy))?])
}

/// Without the folder in which it was made.
fn anywhere(text: &str, folder: &Path) -> String {
    let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    [folder, &real].iter().fold(text.to_owned(), |text, folder| text.replace(&*folder.to_string_lossy(), "/oversleep"))
}

/// The tool, which is compiled once, without optimisation: it runs for a second.
fn tool(yard: &mut Yard) -> Result<PathBuf, String> {
    let kept = yard.kept(TOOL)?;
    let tool = kept.join("bin").join(TOOL);
    if tool.exists() {
        return Ok(tool);
    }
    if !yard.prerequisites.may_install() {
        return Err(format!("{TOOL} is not installed; run `cargo install {TOOL}@{TOOL_VERSION}`"));
    }
    let mut install = Command::new("cargo");
    install.args(["install", "--quiet", "--locked", "--version", TOOL_VERSION, "--root"]).arg(&kept).arg(TOOL);
    install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_TARGET_DIR", kept.join("build"));
    run(&mut install)?;
    _ = fs::remove_dir_all(kept.join("build"));
    Ok(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_in_which_the_list_was_made_is_not_in_it() {
        let text = anywhere("\"path+file:///tmp/no-such/sbom/crates/a#1\"", Path::new("/tmp/no-such/sbom"));
        assert_eq!(text, "\"path+file:///oversleep/crates/a#1\"");
    }
}
