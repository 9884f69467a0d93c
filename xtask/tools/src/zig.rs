//! A linker for macOS: zig, from the Python package index, called by cargo-zigbuild, from crates.io. Both are installed
//! below the target directory. Zig includes stubs of macOS's C library; this file adds the other libraries of Apple's
//! SDK that the programs link.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::limited::{run_limited, tail};
use crate::prerequisites::{Prerequisites, quietly};

/// Other versions of zig have different linker flags.
const ZIG: &str = "ziglang==0.15.*";
const ZIGBUILD: &str = "0.24.1";

/// The paths of both.
pub struct Zig {
    zigbuild: PathBuf,
    zig: PathBuf,
    stubs: PathBuf,
}

impl Zig {
    /// Finds what an earlier run installed, or installs it.
    ///
    /// # Errors
    /// What is missing, and why.
    pub fn prepare(scratch: &Path, prerequisites: &mut Prerequisites) -> Result<Zig, String> {
        let room = scratch.join("zig");
        let stubs = room.join("stubs");
        write_stubs(&stubs).map_err(|error| format!("{}: {error}", stubs.display()))?;
        let zig = zig(&room, prerequisites)?;
        let zigbuild = room.join("bin/cargo-zigbuild");
        if !zigbuild.exists() {
            if !prerequisites.may_install() {
                return Err(format!("cargo-zigbuild is not installed; run `cargo install cargo-zigbuild@{ZIGBUILD}`"));
            }
            let mut install = Command::new("cargo");
            install.args(["install", "--locked", "--version", ZIGBUILD, "--root"]).arg(&room).arg("cargo-zigbuild");
            // It runs once, so optimising it would take longer than it saves.
            install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_TARGET_DIR", room.join("build"));
            succeed(&install, 5, &room.join("cargo-zigbuild.log"))?;
        }
        Ok(Zig { zigbuild, zig, stubs })
    }

    /// `cargo build`, linked by zig; packages and the target follow.
    pub fn cargo_build(&self) -> Command {
        let mut build = Command::new(&self.zigbuild);
        build.arg("zigbuild").env("CARGO_ZIGBUILD_ZIG_PATH", &self.zig);
        let stubs = self.stubs.display();
        build.env("RUSTFLAGS", format!("-L native={stubs} -L framework={stubs}"));
        build
    }
}

/// Zig in a Python environment of its own.
fn zig(room: &Path, prerequisites: &mut Prerequisites) -> Result<PathBuf, String> {
    let python = room.join("python");
    if let Some(zig) = installed(&python) {
        return Ok(zig);
    }
    if !prerequisites.may_install() {
        return Err(format!("zig is not installed; run `pip install '{ZIG}'`"));
    }
    prerequisites.program("python3", &["python3"])?;
    // Debian's python3 lacks the modules for virtual environments.
    if !quietly(Command::new("python3").args(["-c", "import ensurepip, venv"])) {
        prerequisites.install(&["python3-venv"])?;
    }
    let mut make = Command::new("python3");
    make.args(["-m", "venv"]).arg(&python);
    succeed(&make, 1, &room.join("venv.log"))?;
    let mut install = Command::new(python.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ZIG]);
    succeed(&install, 3, &room.join("pip.log"))?;
    installed(&python).ok_or_else(|| format!("{ZIG} installed no zig in {}", python.display()))
}

/// The program of the package `ziglang` in that environment.
fn installed(python: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(python.join("lib")).ok()?;
    let zig = versions.flatten().map(|version| version.path().join("site-packages/ziglang/zig"));
    zig.into_iter().find(|zig| zig.is_file())
}

fn succeed(command: &Command, minutes_max: u32, log: &Path) -> Result<(), String> {
    let code = run_limited(command, minutes_max, log)?;
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
    if code == 0 { Ok(()) } else { Err(format!("{program}: exit code {code}: {}", last_line(&tail(log)))) }
}

fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output")
}

/// A library of Apple's SDK: the path of its stub, its name on a Mac, and the symbols that the programs use.
struct Stub {
    file: &'static str,
    installed: &'static str,
    symbols: &'static str,
}

const STUBS: &[Stub] = &[
    Stub {
        file: "libobjc.tbd",
        installed: "/usr/lib/libobjc.A.dylib",
        symbols: "_objc_msgSend, _objc_retain, _objc_release, _objc_autorelease, _objc_getClass, _sel_registerName, \
                  __objc_empty_cache",
    },
    Stub {
        file: "Foundation.framework/Foundation.tbd",
        installed: "/System/Library/Frameworks/Foundation.framework/Versions/C/Foundation",
        symbols: "",
    },
    Stub {
        file: "CoreFoundation.framework/CoreFoundation.tbd",
        installed: "/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation",
        symbols: "",
    },
];

/// The stubs as text, in the form that linkers read.
fn write_stubs(directory: &Path) -> std::io::Result<()> {
    for stub in STUBS {
        let file = directory.join(stub.file);
        std::fs::create_dir_all(file.parent().unwrap_or(directory))?;
        std::fs::write(file, text(stub))?;
    }
    Ok(())
}

fn text(stub: &Stub) -> String {
    let targets = "[ x86_64-macos, arm64-macos ]";
    let (installed, symbols) = (stub.installed, stub.symbols);
    format!(
        "--- !tapi-tbd\ntbd-version: 4\ntargets: {targets}\ninstall-name: '{installed}'\ncurrent-version: 1\n\
         exports:\n  - targets: {targets}\n    symbols: [ {symbols} ]\n...\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_installed_unless_allowed_and_the_reason_says_what_would_be() {
        let scratch = std::env::temp_dir().join(format!("oversleep-proving-zig-{}", std::process::id()));
        let reason = Zig::prepare(&scratch, &mut Prerequisites::new(false)).err();
        assert_eq!(reason.as_deref(), Some("zig is not installed; run `pip install 'ziglang==0.15.*'`"));
        assert!(scratch.join("zig/stubs/Foundation.framework/Foundation.tbd").exists());
        std::fs::remove_dir_all(scratch).unwrap();
    }

    #[test]
    fn a_stub_names_its_library_and_its_symbols() {
        let text = text(&STUBS[0]);
        assert!(text.contains("install-name: '/usr/lib/libobjc.A.dylib'") && text.contains("_objc_msgSend"), "{text}");
        assert!(text.starts_with("--- !tapi-tbd\n") && text.ends_with("...\n"));
    }

    #[test]
    fn a_failure_says_its_last_line() {
        assert_eq!(last_line("one\ntwo\n\n"), "two");
        assert_eq!(last_line(""), "no output");
    }
}
