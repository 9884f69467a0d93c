//! `cargo xtask cross`: what this machine can tell about the other ones. Builds and checks Windows, aarch64 Linux and
//! macOS, links the command for all of them, runs the tests and the command for Windows under Wine and for aarch64 under
//! qemu-user, and opens here what they measured there. What is missing is installed where that is allowed (`--no-install`
//! forbids it); what stays missing is a line with its reason, never a silent pass.

mod apple;
mod arm_linux;
mod command_runs;
mod imports;
mod prerequisites;
mod report;
mod results;
mod toolchain;
mod windows;
mod zig;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use prerequisites::Prerequisites;
use report::Report;

/// What is compiled and linted for every system.
const PRODUCT: &[&str] = &[
    "-p",
    "oversleep",
    "-p",
    "oversleep-capi",
    "-p",
    "oversleep-record",
    "-p",
    "oversleep-lab",
    "-p",
    "oversleep-cli",
];

/// What is run on the systems that something carries here. The C interface's own tests need a C compiler of the target
/// with pkg-config; they are run on Linux. The command's are added where programs can start others.
const TESTED: &[&str] = &["-p", "oversleep", "-p", "oversleep-record", "-p", "oversleep-lab"];

/// One system to check for.
struct System {
    name: &'static str,
    check: fn(&mut Cross),
}

const SYSTEMS: &[System] = &[
    System { name: "windows", check: windows::check },
    System { name: "macos", check: apple::check },
    // Last: what an emulator of programs takes is more than the others together, and differs most by machine.
    System { name: "arm-linux", check: arm_linux::check },
];

/// What every system's check works with.
struct Cross {
    root: PathBuf,
    /// Where everything made here goes.
    scratch: PathBuf,
    prerequisites: Prerequisites,
    report: Report,
    begun: Instant,
}

/// All of it is to take no longer than this; what it took is told at the end.
const LONGEST: Duration = Duration::from_secs(20 * 60);
/// What is begun later than this, and is no more than an extra, is left out.
const LAST_EXTRA: Duration = Duration::from_secs(10 * 60);

/// Runs the chore. Exit code 0: all that could run is well; 1: something failed.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let mut wanted: Vec<&System> = Vec::new();
    let mut may_install = true;
    for arg in args {
        match (arg.as_str(), SYSTEMS.iter().find(|system| system.name == arg)) {
            (_, Some(system)) => wanted.push(system),
            ("--no-install", None) => may_install = false,
            _ => {
                let names: Vec<&str> = SYSTEMS.iter().map(|system| system.name).collect();
                return Err(format!("cross takes {} and --no-install, not `{arg}`", names.join(", ")));
            }
        }
    }
    if wanted.is_empty() {
        wanted.extend(SYSTEMS);
    }
    if !cfg!(target_os = "linux") {
        return Err("cross runs on Linux: Wine and qemu-user carry the other systems there".to_owned());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    let scratch = target.join("cross");
    std::fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let report = Report::new(scratch.join("logs"))?;
    let prerequisites = Prerequisites::new(may_install);
    let mut cross = Cross { root: root.to_path_buf(), scratch, prerequisites, report, begun: Instant::now() };
    for system in wanted {
        (system.check)(&mut cross);
    }
    let took = cross.begun.elapsed();
    println!("\ncross: {} of {} minutes", took.as_secs().div_ceil(60), LONGEST.as_secs() / 60);
    Ok(cross.report.close())
}
