//! `cargo prove cross`: checks the other systems from this one. It builds and lints for Windows, aarch64 Linux and
//! macOS, links the command for all of them, runs the tests and the command for Windows under Wine and for aarch64
//! under qemu-user, and opens their results here. It installs missing tools if allowed (`--no-install` forbids it); for
//! a tool that stays missing it prints a line with the reason, so that no check passes silently.

mod apple;
mod arm_linux;
mod command_runs;
mod imports;
mod results;
mod toolchain;
mod under_wine;
mod windows;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use xtask_tools::{Prerequisites, target_directory};

use crate::report::Report;
use toolchain::Toolchain;

/// The flags that name every released crate.
fn product(root: &Path) -> Vec<String> {
    packages(root, &[])
}

/// The flags that name the crates whose tests run under a carrier here. The tests of the C interface need a C compiler
/// of the target with pkg-config, so they run on Linux only. The command's tests are added if programs can start
/// others.
fn tested(root: &Path) -> Vec<String> {
    packages(root, &["oversleep-capi", "oversleep-report", "oversleep-cli"])
}

/// A crate's folder has its name.
fn packages(root: &Path, except: &[&str]) -> Vec<String> {
    let folders = std::fs::read_dir(root.join("crates")).expect("the project has crates").flatten();
    let crates = folders.filter(|folder| folder.path().join("Cargo.toml").is_file());
    let mut names: Vec<String> = crates.map(|folder| folder.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !except.contains(&name.as_str()));
    names.sort();
    names.into_iter().flat_map(|name| ["-p".to_owned(), name]).collect()
}

/// A system to check for.
struct System {
    name: &'static str,
    check: fn(&mut Cross),
}

const SYSTEMS: &[System] = &[
    System { name: "windows", check: windows::check },
    System { name: "macos", check: apple::check },
    // Last, because a user-mode emulator takes longer than the others together, and varies most between machines.
    System { name: "arm-linux", check: arm_linux::check },
];

/// The context of every system's check.
struct Cross {
    root: PathBuf,
    /// The directory for all output.
    scratch: PathBuf,
    prerequisites: Prerequisites,
    report: Report,
    /// Whether to lint, to compile what runs under Wine, and no more, so that a later run finds it.
    only_compiles: bool,
    begun: Instant,
    /// The time limit of the whole suite. The last line compares the time taken with it.
    budget: Duration,
}

impl Cross {
    /// The toolchain for the target; if there is none, the report says why the step of that name is skipped.
    fn toolchain(&mut self, target: &'static str, step: &str) -> Option<Toolchain> {
        let toolchain = Toolchain::for_target(target, &mut self.prerequisites);
        toolchain.map_err(|reason| self.report.skip(step, &reason)).ok()
    }

    /// Lints all released crates, or only compiles them if clippy is missing.
    fn lint(&mut self, toolchain: &Toolchain, system: &str) {
        let verb = if toolchain.has_clippy() { "clippy" } else { "check" };
        let mut check = toolchain.cargo(verb, &self.root);
        check.args(product(&self.root)).arg("--all-targets");
        if verb == "clippy" {
            check.args(["--", "-D", "warnings"]);
        }
        self.report.step(&format!("{system}: {verb}"), 8, &[0], &check);
    }
}

/// The budget where none is given, in minutes.
const BUDGET_MINUTES: u64 = 20;
/// Extras that would begin with less than this left are skipped.
const EXTRA: Duration = Duration::from_secs(10 * 60);

impl Cross {
    /// Whether there is time for an extra of that system; if not, the report says so.
    fn has_time(&mut self, system: &str, extra: &str) -> bool {
        let has_time = self.begun.elapsed() + EXTRA <= self.budget;
        if !has_time {
            let minutes = self.budget.as_secs() / 60;
            let reason = format!("too little is left of the {minutes} minutes; run `cargo prove cross {system}`");
            self.report.skip(extra, &reason);
        }
        has_time
    }
}

/// Runs the suite. Exit code 0: everything that could run passed; 1: something failed.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    if let [verb, program, arguments @ ..] = args
        && verb == under_wine::VERB
    {
        return under_wine::run(program, arguments);
    }
    let mut wanted: Vec<&System> = Vec::new();
    let (mut may_install, mut only_compiles) = (true, false);
    let mut minutes = BUDGET_MINUTES;
    for arg in args {
        let given = arg.strip_prefix("--minutes=").and_then(|minutes| minutes.parse::<u32>().ok());
        match (arg.as_str(), given, SYSTEMS.iter().find(|system| system.name == arg)) {
            (_, _, Some(system)) => wanted.push(system),
            (_, Some(given), None) => minutes = given.into(),
            ("--no-install", None, None) => may_install = false,
            ("--only-compile", None, None) => only_compiles = true,
            _ => {
                let names: Vec<&str> = SYSTEMS.iter().map(|system| system.name).collect();
                return Err(format!(
                    "cross takes {}, --minutes=N, --only-compile and --no-install, not `{arg}`",
                    names.join(", ")
                ));
            }
        }
    }
    if wanted.is_empty() {
        wanted.extend(SYSTEMS);
    }
    if !cfg!(target_os = "linux") {
        return Err("cross runs on Linux: Wine and qemu-user carry the other systems there".to_owned());
    }
    let target = target_directory(root);
    let scratch = target.join("cross");
    std::fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let report = Report::new(scratch.join(if only_compiles { "compiled" } else { "logs" }))?;
    let prerequisites = Prerequisites::new(may_install);
    let (root, begun, budget) = (root.to_path_buf(), Instant::now(), Duration::from_secs(60 * minutes));
    let mut cross = Cross { root, scratch, prerequisites, report, only_compiles, begun, budget };
    for system in wanted {
        (system.check)(&mut cross);
    }
    let took = cross.begun.elapsed();
    println!("\ncross: {} of {} minutes", took.as_secs().div_ceil(60), minutes);
    Ok(cross.report.close())
}
