//! The packages as they would be published.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask_tools::{Prerequisites, can_build_for};

use super::{Answer, Context, output};

/// The package for users, and the files without which it must not be published.
const PACKAGE: &str = "oversleep";
/// Further crates of it, each packed beside it.
const PARTS: [&str; 3] = ["oversleep-async", "oversleep-channel", "oversleep-rtkit"];
const FILES: [&str; 4] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs"];

/// Packs, unpacks elsewhere, and runs the documentation tests there.
pub fn unpacked(context: &Context) -> Result<Answer, String> {
    let target = context.scratch.join("target");
    let mut pack = context.cargo(&["package", "--quiet", "--allow-dirty", "--no-verify", "-p", PACKAGE]);
    PARTS.iter().for_each(|part| _ = pack.args(["-p", part]));
    output(pack.env("CARGO_TARGET_DIR", &target))?;
    let packed = std::fs::read_dir(target.join("package")).map_err(|error| error.to_string())?;
    let archives =
        packed.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "crate"));
    // The files of a package all have one old time, by which Cargo would take those of an earlier run for compiled.
    let _ = std::fs::remove_dir_all(target.join("debug/.fingerprint"));
    let mut unpacked = Vec::new();
    for archive in archives {
        let name = archive.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let directory = context.scratch.join(&name);
        let _ = std::fs::remove_dir_all(&directory);
        output(Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(&context.scratch))?;
        if let Some(file) = FILES.iter().find(|file| !directory.join(file).is_file()) {
            return Err(format!("{name} has no {file}; see `include` and `readme` in its Cargo.toml"));
        }
        unpacked.push((name, directory));
    }
    let is_part = |name: &str| PARTS.iter().any(|part| name.starts_with(part));
    let mut count = 0;
    for (_, directory) in unpacked.iter().filter(|(name, _)| !is_part(name)) {
        stand_alone(directory, &unpacked)?;
        let mut test = context.cargo(&["test", "--quiet", "--doc", "--features", "serde", "--manifest-path"]);
        let said = output(test.arg(directory.join("Cargo.toml")).env("CARGO_TARGET_DIR", &target))?;
        count += said
            .split("test result: ok. ")
            .skip(1)
            .filter_map(|rest| rest.split(' ').next()?.parse::<u32>().ok())
            .sum::<u32>();
    }
    if count == 0 {
        return Err("no documentation test ran in the unpacked package".to_owned());
    }
    Ok(Answer::Holds(format!("{count} documentation tests pass in the unpacked package")))
}

/// Below `target`, Cargo would take an unpacked package for a member of this workspace. What it depends on is unpacked, too.
fn stand_alone(directory: &Path, unpacked: &[(String, PathBuf)]) -> Result<(), String> {
    let manifest = directory.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
    let others = unpacked.iter().filter(|(_, other)| other != directory);
    let versions = others.filter_map(|(name, path)| Some((name.rsplit_once('-')?.0, path)));
    let patches: Vec<_> = versions.map(|(name, path)| format!("{name} = {{ path = {path:?} }}")).collect();
    super::write(&manifest, &format!("{text}\n[workspace]\n[patch.crates-io]\n{}\n", patches.join("\n")))
}

/// Compares the interface with that of the last release. Before the first release it may still change, so differences
/// from the previous commit are reported, but are no failure.
pub fn semver(context: &Context) -> Result<Answer, String> {
    if output(&mut context.cargo(&["semver-checks", "--version"])).is_err() {
        return Ok(Answer::Skipped(
            "cargo-semver-checks is not installed; run `cargo install cargo-semver-checks --locked`, which takes longer \
             than this step may"
                .to_owned(),
        ));
    }
    let git = |arguments: &[&str]| output(Command::new("git").current_dir(&context.root).args(arguments));
    let tags = git(&["tag", "--list", "v*", "--sort=-creatordate"])?;
    let release = tags.lines().next();
    let baseline = release.unwrap_or("HEAD^");
    let mut check = context.cargo(&["semver-checks", "--baseline-rev", baseline]);
    PARTS.iter().for_each(|part| _ = check.args(["-p", part]));
    check.args(["-p", PACKAGE]).env("CARGO_TARGET_DIR", context.scratch.join("target"));
    match (output(&mut check), release) {
        (Ok(_), _) => Ok(Answer::Holds(format!("compatible with {baseline}"))),
        (Err(differences), Some(_)) => Err(differences),
        (Err(differences), None) => match failed_checks(&differences) {
            // The tool itself failed.
            checks if checks.is_empty() => Err(differences),
            checks => Ok(Answer::Holds(format!("not released yet; {} since {baseline}", checks.join(", ")))),
        },
    }
}

/// Builds the documentation as docs.rs does: from the manifest's own table, for each of its targets. docs.rs has a nightly
/// compiler; what the library documents doesn't depend on that.
pub fn documentation(context: &Context) -> Result<Answer, String> {
    let manifest = context.root.join("crates").join(PACKAGE).join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
    let manifest: toml::Table = text.parse().map_err(|error| format!("{}: {error}", manifest.display()))?;
    let docs = docs_rs(&manifest)?;
    let prerequisites = Prerequisites::new(context.may_install);
    let (mut built, mut left_out) = (Vec::new(), Vec::new());
    for target in docs.targets {
        if let Err(reason) = can_build_for(target, &prerequisites) {
            left_out.push(format!("{target} is left out: {reason}"));
            continue;
        }
        let mut doc = context.cargo(&["doc", "--quiet", "--no-deps", "-p", PACKAGE, "--target", target]);
        if docs.has_all_features {
            doc.arg("--all-features");
        }
        doc.env("RUSTDOCFLAGS", "--cfg docsrs -D warnings").env("CARGO_TARGET_DIR", context.scratch.join("target"));
        output(&mut doc)?;
        built.push(target);
    }
    match built.is_empty() {
        true => Ok(Answer::Skipped(left_out.join("; "))),
        false => {
            let built = format!("built without a warning for {}", built.join(", "));
            Ok(Answer::Holds([vec![built], left_out].concat().join("; ")))
        }
    }
}

/// What a manifest requests of docs.rs.
struct DocsRs<'a> {
    has_all_features: bool,
    targets: Vec<&'a str>,
}

fn docs_rs(manifest: &toml::Table) -> Result<DocsRs<'_>, String> {
    let metadata =
        manifest.get("package").and_then(|package| package.get("metadata")?.get("docs")?.get("rs")?.as_table());
    let table = metadata.ok_or("the library's manifest has no [package.metadata.docs.rs]")?;
    let targets = table.get("targets").and_then(|targets| targets.as_array()).into_iter().flatten();
    let has_all_features = table.get("all-features").and_then(|all| all.as_bool()).unwrap_or_default();
    Ok(DocsRs { has_all_features, targets: targets.filter_map(|target| target.as_str()).collect() })
}

/// The names of the checks that cargo-semver-checks reports as failed.
fn failed_checks(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("--- failure "));
    names.filter_map(|rest| Some(rest.split(':').next()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_is_built_as_its_manifest_requests() {
        let text = "[package.metadata.docs.rs]\nall-features = true\ntargets = [\"a-b-c\", \"d-e-f\"]\n";
        let manifest = text.parse().unwrap();
        let docs = docs_rs(&manifest).unwrap();
        assert!(docs.has_all_features && docs.targets == ["a-b-c", "d-e-f"]);
        assert!(docs_rs(&"[package]\nname = \"a\"\n".parse().unwrap()).is_err());
    }

    #[test]
    fn failed_checks_are_named() {
        let text = "     Checking oversleep v0.1.0\n--- failure trait_method_missing: pub trait method removed ---\n\nDescription:\n";
        assert_eq!(failed_checks(text), ["trait_method_missing"]);
        assert!(failed_checks("error: no such revision").is_empty());
    }
}
