//! What all packages say of oversleep: its version, its time and its words. Everything that a package states of itself and
//! that isn't in the command belongs here.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::yard::run;

/// Where the source is.
pub const REPOSITORY: &str = "https://github.com/oversleep/oversleep";
/// One line without a full stop, as package managers want it.
pub const SUMMARY: &str = "measure how late waits end, and say why";
/// A paragraph, in lines of fewer than 76 columns.
pub const DESCRIPTION: &str = "\
oversleep measures a machine's clocks, waits, threads and wake-ups. It says
in sentences what is late and why, and tries the remedies that are harmless.
It also follows the waits of other programs, in any language, and models
machines that you don't have.";
/// No address is published yet, and the domain `.invalid` is reserved for that (RFC 2606).
pub const MAINTAINER: &str = "oversleep contributors <contributors@oversleep.invalid>";
/// Both licences, for a reader that knows SPDX.
pub const LICENCE: &str = "MIT OR Apache-2.0";
/// Where packages of distributions have the service.
pub const UNIT: &str = "usr/lib/systemd/system/oversleep.service";
/// The texts at the project's root that are in every package.
pub const TEXTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The version, from the workspace's manifest.
pub fn version(root: &Path) -> Result<String, String> {
    let manifest = read(&root.join("Cargo.toml"))?;
    let manifest: toml::Table = manifest.parse().map_err(|error| format!("Cargo.toml: {error}"))?;
    let version = manifest.get("workspace").and_then(|table| table.get("package")?.get("version")?.as_str());
    version.map(str::to_owned).ok_or_else(|| "Cargo.toml has no workspace.package.version".to_owned())
}

/// The version as deb and rpm order it: a pre-release is before its release there only after `~`.
pub fn packaged_version(version: &str) -> String {
    version.replace('-', "~")
}

/// The time of everything that is packed, in seconds of the Unix epoch: `SOURCE_DATE_EPOCH`, or the last commit's.
pub fn epoch_s(root: &Path) -> Result<u64, String> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => run(Command::new("git").arg("-C").arg(root).args(["log", "-1", "--format=%ct"]))
            .map_err(|error| format!("{error}; outside of a clone, set SOURCE_DATE_EPOCH"))?,
    };
    text.trim().parse().map_err(|_| format!("not a time in seconds: `{}`", text.trim()))
}

/// That time as mail writes dates, for the changelogs of deb and rpm.
pub fn date(epoch_s: u64, format: &str) -> Result<String, String> {
    let at = format!("--date=@{epoch_s}");
    let date = run(Command::new("date").args(["--utc", &at, format!("+{format}").as_str()]).env("LC_ALL", "C"))?;
    Ok(date.trim().to_owned())
}

/// A text file.
pub fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<PathBuf, String> {
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path.to_owned())
}
