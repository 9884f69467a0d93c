//! This system's wheel: the library and the command, installed in an empty environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::tools::{self, Tools};
use super::yard::{Refusal, Yard, run};
use super::{Way, trial};

pub const WAY: Way = Way {
    name: "wheel",
    about: "this system's Python wheel: import oversleep, and the command",
    is_quick: true,
    build,
    try_out,
};

/// The largest wheel, in bytes.
pub const BYTES_MAX: u64 = 11_600_000;
const MYPY: &str = "mypy==2.4.1";
/// What runs a command of the package index without installing it: both MIT.
const RUNNERS: [&str; 2] = ["uv==0.13.9", "pipx==1.18.4"];

fn build(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
    let tools = Tools::prepare(yard)?;
    let command = yard.command(None)?;
    Ok(vec![tools.wheel(yard, &command, None)?])
}

fn try_out(yard: &mut Yard, files: &[PathBuf]) -> Result<String, Refusal> {
    let mut seen = Vec::new();
    for wheel in files {
        seen.push(installed(yard, wheel)?);
    }
    if let Some(wheel) = files.first() {
        seen.push(without_installing(yard, wheel)?);
    }
    Ok(seen.join("; "))
}

/// Installs a wheel in an empty environment and uses everything in it.
pub fn installed(yard: &mut Yard, wheel: &Path) -> Result<String, Refusal> {
    trial::size_at_most(yard, wheel, BYTES_MAX)?;
    let home = yard.empty("environment")?;
    tools::environment(&mut yard.prerequisites, &home)?;
    let bin = home.join(if cfg!(windows) { "Scripts" } else { "bin" });
    tools::pip(&bin, &[wheel])?;
    let seen = command_works(&mut || Command::new(bin.join("oversleep")))?;
    let python = || {
        let mut python = Command::new(bin.join("python"));
        python.current_dir(&home).env_remove("PYTHONPATH");
        python
    };
    run(python().args(["-c", "import oversleep; oversleep.sleep(0.001); print(oversleep.clock())"]))?;
    let tests = yard.root.join("bindings/python/tests");
    for test in ["test_oversleep.py", "test_misuse.py"] {
        run(python().arg(tests.join(test)).env("PYTHONDONTWRITEBYTECODE", "1"))?;
    }
    let types = match tools::pip(&bin, &[MYPY]) {
        Err(_) => format!("types not checked: pip could not install {MYPY}"),
        Ok(()) => {
            let known = tests.join("stubtest-allowlist.txt");
            run(python().args(["-m", "mypy.stubtest", "oversleep", "--allowlist"]).arg(known))?;
            run(python().args(["-m", "mypy", "--strict"]).arg(tests.join("typed.py")))?;
            "stubtest and mypy agree with its types".to_owned()
        }
    };
    Ok(format!("{seen}; import oversleep works and its tests pass; {types}"))
}

/// What the command prints: its version, and a row of a result.
pub fn command_works(command: &mut dyn FnMut() -> Command) -> Result<String, String> {
    let version = run(command().arg("--version"))?;
    let waits = run(command().args(["waits", "nanosleep", "--count", "50"]))?;
    let row = recorded(&waits).ok_or_else(|| format!("no row of nanosleep 1 ms in:\n{waits}"))?;
    Ok(format!("{}; waits nanosleep 1 ms: {row}", version.trim()))
}

/// The row of the values as recorded for a wait of 1 ms.
fn recorded(report: &str) -> Option<String> {
    let (_, table) = report.split_once("Lateness of nanosleep 1 ms\n")?;
    let row = table.lines().take(3).find(|line| line.starts_with("as recorded"))?;
    Some(row.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The command as people run it without installing it: the lines of `docs/install/python.md`, with a folder of wheels in the
/// place of the package index.
fn without_installing(yard: &Yard, wheel: &Path) -> Result<String, Refusal> {
    let home = yard.empty("runners")?;
    let bin = home.join(if cfg!(windows) { "Scripts" } else { "bin" });
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
    if let Err(reason) = tools::pip(&bin, &RUNNERS) {
        return Ok(format!("uvx and pipx not tried: {reason}"));
    }
    let wheels = wheel.parent().unwrap_or(wheel);
    let mut seen = Vec::new();
    for line in [&["uvx", "oversleep"][..], &["pipx", "run", "oversleep"]] {
        let mut command = Command::new(bin.join(line[0]));
        command.args(&line[1..]).arg("--version").current_dir(&home);
        command.env("UV_FIND_LINKS", wheels).env("UV_OFFLINE", "1").env("UV_CACHE_DIR", home.join("uv"));
        command.env("PIP_FIND_LINKS", wheels).env("PIP_NO_INDEX", "1").env("PIPX_HOME", home.join("pipx"));
        let said = run(&mut command)?;
        let version = said.lines().last().unwrap_or_default().trim();
        if !version.starts_with("oversleep ") {
            return Err(Refusal::Failed(format!("{} prints `{version}`", line.join(" "))));
        }
        seen.push(format!("{}: {version}", line.join(" ")));
    }
    Ok(seen.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_of_a_result_is_found() {
        let report = "Lateness of nanosleep 300 µs\nview count\nas recorded 50 1 µs\n\n\
                      Lateness of nanosleep 1 ms\nview         count      min\nas recorded     50  8.23 µs\n";
        assert_eq!(recorded(report).as_deref(), Some("as recorded 50 8.23 µs"));
        assert_eq!(recorded("nothing"), None);
    }
}
