//! Tools from the Python package index, in an environment of their own below the target directory, and what they build:
//! wheels, and programs and libraries for other systems.
//!
//! maturin (MIT OR Apache-2.0) is pyo3's own build tool. zig (MIT) is the linker for other systems, with the C libraries
//! that old systems have; cargo-zigbuild (MIT) calls it.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask_tools::{Prerequisites, can_build_for, quietly, target_directory};

use super::yard::{FEATURES, Refusal, Yard, run};

/// What is installed. Other versions of zig have other options for linking.
const PACKAGES: [&str; 3] = ["maturin==1.16.0", "cargo-zigbuild==0.24.1", "ziglang==0.15.2"];

/// A system and processor that packages are built for.
pub struct Target {
    pub triple: &'static str,
    /// The oldest C library that the files run with, as zig knows it.
    pub libc: &'static str,
    /// The name by which Python's package index knows such systems; empty where maturin knows it by itself.
    pub tag: &'static str,
}

/// The glibc of manylinux2014, which CentOS 7 had.
const GLIBC: &str = ".2.17";

pub const TARGETS: [Target; 5] = [
    Target { triple: "x86_64-unknown-linux-gnu", libc: GLIBC, tag: "manylinux2014" },
    Target { triple: "aarch64-unknown-linux-gnu", libc: GLIBC, tag: "manylinux2014" },
    Target { triple: "x86_64-unknown-linux-musl", libc: "", tag: "musllinux_1_2" },
    Target { triple: "aarch64-unknown-linux-musl", libc: "", tag: "musllinux_1_2" },
    Target { triple: "x86_64-pc-windows-gnu", libc: "", tag: "" },
];

/// What Rust's standard library calls of an unwinder, without the beginning `_Unwind_`.
const UNWINDER: [&str; 16] = [
    "Backtrace",
    "DeleteException",
    "FindEnclosingFunction",
    "ForcedUnwind",
    "GetCFA",
    "GetDataRelBase",
    "GetIP",
    "GetIPInfo",
    "GetLanguageSpecificData",
    "GetRegionStart",
    "GetTextRelBase",
    "RaiseException",
    "Resume",
    "Resume_or_Rethrow",
    "SetGR",
    "SetIP",
];

/// The environment with the tools.
pub struct Tools {
    bin: PathBuf,
    zig: PathBuf,
}

impl Tools {
    /// Finds what an earlier run installed, or installs it.
    pub fn prepare(yard: &mut Yard) -> Result<Tools, Refusal> {
        let home = target_directory(&yard.root).join("packages/tools");
        let bin = home.join(if cfg!(windows) { "Scripts" } else { "bin" });
        let marker = home.join("installed");
        if std::fs::read_to_string(&marker).is_ok_and(|installed| installed == PACKAGES.join(" ")) {
            return zig(&bin).map(|zig| Tools { bin, zig });
        }
        environment(&mut yard.prerequisites, &home)?;
        pip(&bin, &PACKAGES).map_err(Refusal::Missing)?;
        std::fs::write(&marker, PACKAGES.join(" ")).map_err(|error| error.to_string())?;
        zig(&bin).map(|zig| Tools { bin, zig })
    }

    /// Cargo with a linker for the target.
    pub fn cargo(&self, yard: &Yard, target: &Target, package: &str, profile: &str) -> Result<Command, Refusal> {
        can_build_for(target.triple, &yard.prerequisites).map_err(Refusal::Missing)?;
        let mut cargo = Command::new(self.bin.join("cargo-zigbuild"));
        cargo.current_dir(&yard.root).args(["zigbuild", "--quiet", "--locked", "--package", package]);
        cargo.args(["--profile", profile, "--target", &format!("{}{}", target.triple, target.libc)]);
        cargo.env("CARGO_ZIGBUILD_ZIG_PATH", &self.zig);
        Ok(cargo)
    }

    /// The command, for another system.
    pub fn command(&self, yard: &Yard, target: &Target) -> Result<PathBuf, Refusal> {
        run(self.cargo(yard, target, "oversleep-cli", &yard.profile)?.args(["--features", FEATURES]))?;
        let name = if target.triple.contains("windows") { "oversleep.exe" } else { "oversleep" };
        Ok(target_directory(&yard.root).join(target.triple).join(&yard.profile).join(name))
    }

    /// A wheel with the library and this command, for a target or for this system.
    pub fn wheel(&self, yard: &Yard, command: &Path, target: Option<&Target>) -> Result<PathBuf, Refusal> {
        let source = yard.root.join("bindings/python");
        let data = Data::with(&source, command)?;
        let out = yard.empty("built")?;
        let mut maturin = Command::new(self.bin.join(if cfg!(windows) { "maturin.exe" } else { "maturin" }));
        maturin.current_dir(&source).args(["build", "--quiet", "--release", "--locked", "--out"]).arg(&out);
        match target {
            // Its files need this system's C library, so no other system gets it.
            None => _ = maturin.args(["--compatibility", "linux"]),
            Some(target) => {
                can_build_for(target.triple, &yard.prerequisites).map_err(Refusal::Missing)?;
                maturin.args(["--target", target.triple, "--zig"]);
                if !target.tag.is_empty() {
                    maturin.args(["--compatibility", target.tag]);
                }
                if target.triple.ends_with("linux-gnu") {
                    let flags = self.system_unwinder(yard, target)?;
                    let triple = target.triple.replace('-', "_").to_uppercase();
                    maturin.env(format!("CARGO_TARGET_{triple}_RUSTFLAGS"), flags);
                }
            }
        }
        maturin.env("CARGO_TARGET_DIR", target_directory(&yard.root).join("packages/python"));
        maturin.env("CARGO_ZIGBUILD_ZIG_PATH", &self.zig).env_remove("CARGO_MANIFEST_DIR");
        run(&mut maturin)?;
        drop(data);
        let built = std::fs::read_dir(&out).map_err(|error| error.to_string())?;
        let wheel = built.flatten().map(|entry| entry.path()).next().ok_or("maturin built no wheel".to_owned())?;
        let kept = yard.dist.join(wheel.file_name().unwrap_or_default());
        std::fs::copy(&wheel, &kept).map_err(|error| format!("{}: {error}", kept.display()))?;
        Ok(kept)
    }

    /// Flags by which a library takes the system's unwinder instead of zig's own. Python ends its daemon threads by
    /// `pthread_exit`, for which glibc unwinds their stacks with the system's; two unwinders in one stack crash.
    /// <https://docs.python.org/3/c-api/init.html#cautions-regarding-runtime-finalization>
    fn system_unwinder(&self, yard: &Yard, target: &Target) -> Result<String, Refusal> {
        let folder = yard.empty("unwinder")?;
        let code: String = UNWINDER.iter().map(|name| format!("void _Unwind_{name}(void) {{}}\n")).collect();
        let source = folder.join("unwinder.c");
        std::fs::write(&source, code).map_err(|error| format!("{}: {error}", source.display()))?;
        let system = format!("{}{}", target.triple.replace("-unknown", ""), target.libc);
        let mut zig = Command::new(&self.zig);
        zig.args(["cc", "-target", &system, "-shared", "-nostdlib", "-Wl,-soname,libgcc_s.so.1", "-o"]);
        run(zig.arg(folder.join("libsystem_unwinder.so")).arg(&source))?;
        Ok(format!("-L native={} -l dylib=system_unwinder", folder.display()))
    }

    /// Python, for its own tools.
    pub fn python(&self) -> Command {
        Command::new(self.bin.join("python"))
    }
}

/// The folder from which maturin takes the command. It is removed at the end, so that `pip install` from a clone never takes
/// an old one.
struct Data(PathBuf);

impl Data {
    fn with(source: &Path, command: &Path) -> Result<Data, String> {
        let data = Data(source.join("oversleep.data"));
        let scripts = data.0.join("scripts");
        std::fs::create_dir_all(&scripts).map_err(|error| format!("{}: {error}", scripts.display()))?;
        let to = scripts.join(command.file_name().unwrap_or_default());
        std::fs::copy(command, &to).map_err(|error| format!("{}: {error}", to.display()))?;
        Ok(data)
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An empty Python environment.
pub fn environment(prerequisites: &mut Prerequisites, home: &Path) -> Result<(), Refusal> {
    prerequisites.program("python3", &["python3"]).map_err(Refusal::Missing)?;
    // Debian's python3 lacks the modules for virtual environments.
    if !quietly(Command::new("python3").args(["-c", "import ensurepip, venv"])) {
        prerequisites.install(&["python3-venv"]).map_err(Refusal::Missing)?;
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(home)).map(|_| ()).map_err(Refusal::Failed)
}

/// Installs packages into an environment.
pub fn pip<A: AsRef<std::ffi::OsStr>>(bin: &Path, packages: &[A]) -> Result<(), String> {
    let mut pip = Command::new(bin.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
    run(&mut pip).map(|_| ())
}

/// The program of the package `ziglang`.
fn zig(bin: &Path) -> Result<PathBuf, Refusal> {
    let code = "import os, ziglang; print(os.path.dirname(ziglang.__file__))";
    let folder = run(Command::new(bin.join("python")).args(["-c", code])).map_err(Refusal::Missing)?;
    Ok(Path::new(folder.trim()).join(if cfg!(windows) { "zig.exe" } else { "zig" }))
}

/// The latest version of glibc that a file names, as `2.17`: it can't run with an older one.
pub fn glibc_needed(file: &[u8]) -> Option<(u32, u32)> {
    const NAME: &[u8] = b"GLIBC_";
    let names = file.windows(NAME.len()).enumerate().filter(|(_, bytes)| *bytes == NAME);
    let version = |at: usize| {
        let rest = file.get(at + NAME.len()..)?;
        let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        let (major, rest) = std::str::from_utf8(&rest[..end]).ok()?.split_once('.')?;
        Some((major.parse().ok()?, rest.split('.').next()?.parse().ok()?))
    };
    names.filter_map(|(at, _)| version(at)).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_version_that_a_file_names_counts() {
        let file = b"\0GLIBC_2.2.5\0GLIBC_2.17\0GLIBC_2.9\0GLIBC_PRIVATE\0";
        assert_eq!(glibc_needed(file), Some((2, 17)));
        assert_eq!(glibc_needed(b"a static program"), None);
    }

    #[test]
    fn the_command_is_in_the_tree_only_while_a_wheel_is_built() {
        let source = std::env::temp_dir().join(format!("oversleep-wheel-{}", std::process::id()));
        std::fs::create_dir_all(&source).unwrap();
        let command = source.join("oversleep");
        std::fs::write(&command, "program").unwrap();
        let data = Data::with(&source, &command).unwrap();
        assert!(source.join("oversleep.data/scripts/oversleep").is_file());
        drop(data);
        assert!(!source.join("oversleep.data").exists());
        std::fs::remove_dir_all(source).unwrap();
    }
}
