//! Runs the command on another system like a new user, then opens, explains and compares its results on this one.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Cross;
use super::results::{self, Allowed};
use super::toolchain::Toolchain;
use crate::built::AS_TESTED;

/// The exit codes of the command that are no defect: 4 means that the machine was too disturbed to conclude.
const FINE: &[i32] = &[0, 4];

/// The runs, each with the file that it writes.
const RUNS: &[(&[&str], Option<&str>)] = &[
    (&["--version"], None),
    (&["doctor"], None),
    (&["check", "--quick", "--quiet"], Some("check.json")),
    (&["clocks", "--quiet"], Some("clocks.json")),
    (&["waits", "--count", "10", "--quiet"], Some("waits.json")),
    (&["handoff", "--count", "50", "--quiet"], Some("handoff.json")),
    (&["idle", "--for", "300ms", "--quiet"], Some("idle.json")),
    // The published investigations that docs/investigations.md lists.
    (&["check", "--only", "B1,B2,B4", "--quiet"], Some("sleeps.json")),
    (&["forkjoin", "--threads", "8", "--work", "10..20ms", "--count", "10", "--quiet"], Some("forkjoin.json")),
    (&["explain", "OVS-W003"], None),
    (&["resolution", "show"], None),
    (&["resolution", "show", "--json"], None),
    (&["resolution", "sweep", "--quick", "--quiet"], Some("sweep.json")),
    NEIGHBOURS,
];

/// The run that starts this program again.
const NEIGHBOURS: (&[&str], Option<&str>) =
    (&["resolution", "neighbours", "--quick", "--quiet"], Some("neighbours.json"));

/// The way to start a program of the other system here.
pub struct Carrier<'a> {
    /// Its name, for the report: `Wine`, `qemu-user`.
    pub name: &'static str,
    /// The carrier's program.
    pub program: &'a str,
    /// Its own arguments, before the carried program.
    pub arguments: &'a [&'a str],
    /// Whether a program under it can start itself again.
    pub starts_programs: bool,
    /// The caveat in reports and comparisons about results taken under it, in lower case.
    pub caveat: &'a str,
    /// A program there that ends with exit code 7.
    pub ends_with_7: &'a [&'a str],
    /// Its environment.
    pub environment: &'a [(&'a str, &'a Path)],
    /// Requirements for its results.
    pub allowed: Allowed,
}

/// Builds the command for the target, runs it, and opens its results with this system's own build.
pub fn check(cross: &mut Cross, system: &str, toolchain: &Toolchain, carrier: &Carrier, prepared: &Command) {
    let mut build = toolchain.cargo("build", &cross.root);
    build.args(super::product(&cross.root)).args(AS_TESTED);
    for (name, value) in prepared.get_envs() {
        build.env(name, value.unwrap_or_default());
    }
    if !cross.report.step(&format!("{system}: build the command"), 8, &[0], &build) {
        return;
    }
    let mut own = Command::new(env!("CARGO"));
    own.current_dir(&cross.root).args(["build", "--workspace"]).args(AS_TESTED);
    let has_own = cross.report.step(&format!("{system}: build this system's own command"), 8, &[0], &own);
    let program = binary(cross, toolchain);
    let directory = cross.scratch.join(format!("results-{system}"));
    if let Err(error) = fresh_directory(&directory) {
        cross.report.skip(&format!("{system}: runs"), &error);
        return;
    }
    let here = directory.join("here.json");
    let mut run = Command::new(own_program(cross));
    run.current_dir(&directory).args(["check", "--quick", "--quiet", "--out"]).arg(&here);
    let has_here =
        has_own && cross.report.step(&format!("{system}: a result of this system, to compare with"), 4, FINE, &run);
    let start = |arguments: &[&str]| {
        let mut run = Command::new(carrier.program);
        run.current_dir(&directory).envs(carrier.environment.iter().copied()).args(carrier.arguments);
        run.arg(&program).args(arguments);
        run
    };
    let name = |arguments: &[&str]| format!("{system}: oversleep {} under {}", arguments.join(" "), carrier.name);
    for (arguments, left) in RUNS {
        if !carrier.starts_programs && *arguments == NEIGHBOURS.0 {
            let reason = "a program under it can't start itself again, so there are no neighbours";
            cross.report.skip(&name(arguments), reason);
            continue;
        }
        let mut run = start(arguments);
        if let Some(file) = left {
            run.args(["--out", file]);
        }
        let ran = cross.report.step(&name(arguments), 4, FINE, &run);
        if let (Some(file), true) = (left, ran) {
            let file = directory.join(file);
            cross.report.check(&format!("{system}: {} is complete", file_name(&file)), || {
                results::check(&file, &carrier.allowed)
            });
            if has_own {
                open_here(cross, system, &file, carrier);
            }
            if has_here {
                compare_here(cross, system, [&here, &file], carrier);
            }
        }
    }
    let hold = [&["resolution", "hold", "1ms", "--"], carrier.ends_with_7].concat();
    cross.report.step(&name(&hold), 1, &[7], &start(&hold));
}

fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Checks that a result taken there can be opened and explained here, and names its carrier.
fn open_here(cross: &mut Cross, system: &str, file: &Path, carrier: &Carrier) {
    let own = own_program(cross);
    cross.report.check(&format!("{system}: {} opens here", file_name(file)), || {
        has_caveat(&prints(&own, &["report", "--full"], &[file])?, carrier)?;
        let document = prints(&own, &["report", "--json"], &[file])?;
        // Findings of every system are judged wherever a result is read; those that are absent or lack data say so.
        if !document.contains("\"verdict\"") {
            return Err("it holds no finding".to_owned());
        }
        Ok(())
    });
}

/// Checks that a result taken there can be compared with one of this system, and that the comparison states its limits.
fn compare_here(cross: &mut Cross, system: &str, files: [&Path; 2], carrier: &Carrier) {
    let own = own_program(cross);
    cross.report.check(&format!("{system}: {} compares with a result of this system", file_name(files[1])), || {
        has_caveat(&prints(&own, &["compare"], &files)?, carrier)?;
        prints(&own, &["compare", "--json"], &files).map(drop)
    });
}

/// The output of this system's own command.
fn prints(own: &Path, arguments: &[&str], files: &[&Path]) -> Result<String, String> {
    let output = Command::new(own).args(arguments).args(files).output();
    let output = output.map_err(|error| format!("{}: {error}", own.display()))?;
    if !output.status.code().is_some_and(|code| FINE.contains(&code)) {
        return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn has_caveat(text: &str, carrier: &Carrier) -> Result<(), String> {
    if text.to_lowercase().contains(carrier.caveat) {
        return Ok(());
    }
    Err(format!("it doesn't say \"{}\"", carrier.caveat))
}

/// This system's own command.
fn own_program(cross: &Cross) -> PathBuf {
    target_directory(cross).join("debug/oversleep")
}

/// Cargo's target directory.
pub fn target_directory(cross: &Cross) -> &Path {
    cross.scratch.parent().unwrap_or(&cross.scratch)
}

/// The path of the command for that target.
pub fn binary(cross: &Cross, toolchain: &Toolchain) -> PathBuf {
    let suffix = if toolchain.target().contains("windows") { ".exe" } else { "" };
    target_directory(cross).join(toolchain.target()).join("debug").join(format!("oversleep{suffix}"))
}

fn fresh_directory(directory: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    if directory.exists() {
        std::fs::remove_dir_all(directory).map_err(failed)?;
    }
    std::fs::create_dir_all(directory).map_err(failed)
}
