//! The command itself on another system: the runs a user makes first, and what they leave, opened here.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Cross;
use super::toolchain::Toolchain;

/// The command's exit codes that are no defect: 4 says that the machine was too disturbed to conclude.
const FINE: &[i32] = &[0, 4];

/// The runs, with the file each leaves.
const RUNS: &[(&[&str], Option<&str>)] = &[
    (&["--version"], None),
    (&["doctor"], None),
    (&["check", "--quick", "--quiet"], Some("check.json")),
    (&["clocks", "--quiet"], Some("clocks.json")),
    (&["waits", "--count", "10", "--quiet"], Some("waits.json")),
    (&["handoff", "--count", "50", "--quiet"], Some("handoff.json")),
    (&["resolution", "show"], None),
    (&["resolution", "sweep", "--quick", "--quiet"], Some("sweep.json")),
    NEIGHBOURS,
];

/// The run that starts programs of its own kind.
const NEIGHBOURS: (&[&str], Option<&str>) =
    (&["resolution", "neighbours", "--quick", "--quiet"], Some("neighbours.json"));

/// How a program of the other system is started here.
pub struct Carrier<'a> {
    /// Its name, for the report: `Wine`, `qemu-user`.
    pub name: &'static str,
    /// What stands before the program.
    pub program: &'a str,
    /// Its arguments before the program's.
    pub arguments: &'a [&'a str],
    /// Whether a program it runs can start programs of its own kind.
    pub starts_programs: bool,
    /// Its environment.
    pub environment: &'a [(&'a str, &'a Path)],
}

/// Builds the command for the target, makes the runs, and opens what they left with this system's own build.
pub fn check(cross: &mut Cross, system: &str, toolchain: &Toolchain, carrier: &Carrier, prepared: &Command) {
    let mut build = toolchain.cargo("build", &cross.root);
    build.args(["-p", "oversleep-cli"]);
    for (name, value) in prepared.get_envs() {
        build.env(name, value.unwrap_or_default());
    }
    if !cross.report.step(&format!("{system}: build the command"), 8, &[0], &build) {
        return;
    }
    let mut own = Command::new(env!("CARGO"));
    own.current_dir(&cross.root).args(["build", "-p", "oversleep-cli"]);
    let has_own = cross.report.step(&format!("{system}: build this system's own command"), 8, &[0], &own);
    let program = binary(cross, toolchain);
    let results = cross.scratch.join(format!("results-{system}"));
    if let Err(error) = fresh_directory(&results) {
        cross.report.skip(&format!("{system}: runs"), &error);
        return;
    }
    for (arguments, left) in RUNS {
        let name = format!("{system}: oversleep {} under {}", arguments.join(" "), carrier.name);
        if !carrier.starts_programs && *arguments == NEIGHBOURS.0 {
            cross.report.skip(&name, "what it runs can't start programs of its own kind, so there are no neighbours");
            continue;
        }
        let mut run = Command::new(carrier.program);
        run.current_dir(&results).envs(carrier.environment.iter().copied()).args(carrier.arguments);
        run.arg(&program).args(*arguments);
        if let Some(file) = left {
            run.args(["--out", file]);
        }
        let ran = cross.report.step(&name, 4, FINE, &run);
        if let (Some(file), true, true) = (left, ran, has_own) {
            open_here(cross, system, &results.join(file), carrier.name);
        }
    }
}

/// A result recorded there opens and explains here, and says what carried it.
fn open_here(cross: &mut Cross, system: &str, file: &Path, carrier: &str) {
    let own = target_directory(cross).join("debug/oversleep");
    let shown = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    cross.report.check(&format!("{system}: {shown} opens here"), || {
        let output = Command::new(&own).args(["report", "--full"]).arg(file).output();
        let output = output.map_err(|error| format!("{}: {error}", own.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
        }
        if carrier == "Wine" && !text.contains("Wine") {
            return Err("the report doesn't say that it was measured under Wine".to_owned());
        }
        Ok(())
    });
}

/// Where cargo puts what it builds.
pub fn target_directory(cross: &Cross) -> &Path {
    cross.scratch.parent().unwrap_or(&cross.scratch)
}

/// Where the command for that target is built to.
pub fn binary(cross: &Cross, toolchain: &Toolchain) -> PathBuf {
    let suffix = if toolchain.target().contains("windows") { ".exe" } else { "" };
    target_directory(cross).join(toolchain.target()).join("debug").join(format!("oversleep{suffix}"))
}

fn fresh_directory(directory: &Path) -> Result<(), String> {
    let shown = |error: std::io::Error| format!("{}: {error}", directory.display());
    if directory.exists() {
        std::fs::remove_dir_all(directory).map_err(shown)?;
    }
    std::fs::create_dir_all(directory).map_err(shown)
}
