//! The golden digests: a line for each part in `figures.golden`, with the number of its items.
//!
//! The tokens of changed parts are written to `figures/found` in cargo's directory for test output. When the digests
//! are updated, the tokens of every part are written to `figures/golden` beside it: doing this before a change allows
//! comparing the changed parts afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use crate::runs::Row;

const GOLDEN: &str = include_str!("figures.golden");

const HEAD: &str = "\
# The figures of the modelled machines as digests: machine, command, part, FNV-1a of its tokens, how many of what.
# OVERSLEEP_UPDATE_GOLDEN=1 cargo test -p oversleep-lab --test figures writes them anew.
";

/// The most changes that a message lists one by one.
const TOLD_MAX: usize = 40;

/// Parts and their digests, as the file has them.
fn golden() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = GOLDEN.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(": ").expect("a name, a colon, a digest"))
}

/// The differences from the golden digests, a line each. The tokens of each changed part are written to a file.
pub fn changed(rows: &[Row]) -> Vec<String> {
    let mut changed = Vec::new();
    // Remove the output of an earlier run, which would be misleading.
    let _ = fs::remove_dir_all(folder("found"));
    for row in rows {
        let (name, digest) = (row.name.as_str(), row.part.digest());
        let held = golden().find(|&(held, _)| held == name).map(|(_, digest)| digest);
        if held == Some(digest.as_str()) {
            continue;
        }
        let file = match keep("found", row) {
            Ok(()) => file_name(row),
            Err(error) => format!("its tokens could not be written: {error}"),
        };
        changed.push(format!("{name}: {} became {digest}: {file}", held.unwrap_or("nothing")));
    }
    let gone = golden().filter(|(held, _)| rows.iter().all(|row| row.name != *held));
    changed.extend(gone.map(|(held, digest)| format!("{held}: {digest} is gone")));
    changed
}

/// The message of a failing test.
pub fn message(changed: &[String]) -> String {
    let mut told: Vec<String> = changed.iter().take(TOLD_MAX).map(|change| format!("  {change}")).collect();
    if changed.len() > TOLD_MAX {
        told.push(format!("  and {} more", changed.len() - TOLD_MAX));
    }
    format!(
        "{} parts of {} changed:\n{}\n\
         Their tokens are in {}.\n\
         OVERSLEEP_UPDATE_GOLDEN=1 makes this test write the digests anew, and the tokens they were made of to\n\
         {}: done on the commit before, it leaves what these can be compared with.",
        changed.len(),
        golden().count(),
        told.join("\n"),
        folder("found").display(),
        folder("golden").display(),
    )
}

/// Writes the golden digests anew, with the tokens behind them.
pub fn write(rows: &[Row]) {
    let lines: String = rows.iter().map(|row| format!("{}: {}\n", row.name, row.part.digest())).collect();
    // The checkout under test, which may have been moved since the build.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let path = here.join("tests/figures/figures.golden");
    fs::write(&path, format!("{HEAD}{lines}")).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let _ = fs::remove_dir_all(folder("golden"));
    for row in rows {
        keep("golden", row).unwrap_or_else(|error| panic!("{}: {error}", folder("golden").display()));
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures").join(name)
}

fn file_name(row: &Row) -> String {
    row.name.replace(' ', ".").replace('/', "-") + ".txt"
}

fn keep(name: &str, row: &Row) -> std::io::Result<()> {
    fs::create_dir_all(folder(name))?;
    fs::write(folder(name).join(file_name(row)), &row.part.text)
}
