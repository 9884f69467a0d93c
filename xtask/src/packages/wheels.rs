//! The wheels of all systems, built here. What can run here runs; the others are checked by their contents.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask_tools::{on_path, wine};

use super::tools::{TARGETS, Target, Tools, glibc_needed};
use super::yard::{Refusal, Yard, run};
use super::{Way, trial, wheel};

pub const WAY: Way = Way {
    name: "wheels",
    about: "the wheels of all systems: manylinux2014, musllinux, Windows",
    is_quick: false,
    build,
    try_out,
};

/// That of manylinux2014.
const GLIBC_MAX: (u32, u32) = (2, 17);

fn build(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
    let tools = Tools::prepare(yard)?;
    let mut files = Vec::new();
    for target in &TARGETS {
        let command = tools.command(yard, target)?;
        files.push(tools.wheel(yard, &command, Some(target))?);
    }
    Ok(files)
}

fn try_out(yard: &mut Yard, files: &[PathBuf]) -> Result<String, Refusal> {
    let tools = Tools::prepare(yard)?;
    let mut seen = Vec::new();
    for (target, file) in TARGETS.iter().zip(files) {
        trial::size_at_most(yard, file, wheel::BYTES_MAX)?;
        let folder = yard.empty("unpacked")?;
        run(tools.python().args(["-m", "zipfile", "-e"]).arg(file).arg(&folder))?;
        check_contents(target, &folder)?;
        seen.push(format!("{}: {}", target.triple, used(yard, target, file, &folder)?));
    }
    Ok(seen.join("; "))
}

/// What is in every wheel, and what it needs of the system.
fn check_contents(target: &Target, folder: &Path) -> Result<(), String> {
    let is_windows = target.triple.contains("windows");
    let module = if is_windows { "oversleep/oversleep.pyd" } else { "oversleep/oversleep.abi3.so" };
    for file in ["oversleep/__init__.py", "oversleep/__init__.pyi", "oversleep/py.typed", module] {
        if !folder.join(file).is_file() {
            return Err(format!("the wheel for {} has no {file}", target.triple));
        }
    }
    for file in [folder.join(module), command(target, folder)?] {
        let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        if let Some(needed) = glibc_needed(&bytes).filter(|needed| *needed > GLIBC_MAX) {
            return Err(format!("{} needs glibc {}.{}", file.display(), needed.0, needed.1));
        }
    }
    Ok(())
}

/// The command in an unpacked wheel.
fn command(target: &Target, folder: &Path) -> Result<PathBuf, String> {
    let name = if target.triple.contains("windows") { "oversleep.exe" } else { "oversleep" };
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut found = entries.flatten().map(|entry| entry.path().join("scripts").join(name));
    found.find(|file| file.is_file()).ok_or_else(|| format!("the wheel for {} has no {name}", target.triple))
}

/// Uses as much of a wheel as this system can.
fn used(yard: &mut Yard, target: &Target, wheel: &Path, folder: &Path) -> Result<String, Refusal> {
    let program = command(target, folder)?;
    executable(&program)?;
    let is_here = target.triple.starts_with(std::env::consts::ARCH);
    if target.triple.ends_with("linux-gnu") && is_here && cfg!(target_env = "gnu") {
        return wheel::installed(yard, wheel);
    }
    if target.triple.contains("linux") && is_here && cfg!(target_os = "linux") {
        // It is linked statically, so it runs beside any C library.
        let seen = wheel::command_works(&mut || Command::new(&program))?;
        return Ok(format!("{seen}; SKIPPED its module: no Python with musl can be installed here"));
    }
    let (runner, packages): (&str, &[&str]) = match target.triple {
        triple if triple.contains("windows") => ("wine", &["wine", "wine64"]),
        triple if triple.starts_with("aarch64") => ("qemu-aarch64-static", &["qemu-user-static"]),
        _ => return Ok("SKIPPED: its contents are right, and nothing here runs them".to_owned()),
    };
    if let Err(reason) = yard.prerequisites.program(runner, packages) {
        return Ok(format!("SKIPPED: its contents are right, and nothing here runs them: {reason}"));
    }
    let mut ask = Command::new(on_path(runner).unwrap_or_else(|| runner.into()));
    if runner == "wine" {
        let scratch = yard.empty("wine")?;
        match wine::prefix(&scratch, &mut yard.prerequisites) {
            Ok(prefix) => _ = ask.envs(wine::environment(&prefix)),
            Err(reason) => return Ok(format!("SKIPPED: its contents are right, and nothing here runs them: {reason}")),
        }
    } else if target.triple.ends_with("gnu") {
        let libraries = Path::new("/usr/aarch64-linux-gnu");
        if let Err(reason) = yard.prerequisites.file(libraries, &["libc6-arm64-cross"]) {
            return Ok(format!("SKIPPED: its contents are right, and nothing here runs them: {reason}"));
        }
        ask.arg("-L").arg(libraries);
    }
    let said = run(ask.arg(&program).arg("--version"))?;
    Ok(format!("{} by {runner}; SKIPPED its module: no Python for it can be installed here", said.trim()))
}

/// An archive that Python unpacks loses the permission to run a program, which pip sets.
#[cfg(unix)]
fn executable(program: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).map_err(|error| error.to_string())
}

#[cfg(not(unix))]
fn executable(_program: &Path) -> Result<(), String> {
    Ok(())
}
