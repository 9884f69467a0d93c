//! Archives with the command for one system each, for whoever has no package manager, for `cargo binstall`, and for the
//! recipes of package managers. An archive is `oversleep-{version}-{target}.tar.gz` (`.zip` for Windows), and has one folder
//! of the same name without the ending.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask_tools::{Zig, can_build_for, wine};

use super::contents::{Contents, Papers};
use super::yard::{Refusal, Yard, run, run_installed};
use super::{product, trial};

/// A system that has an archive.
pub struct System {
    pub target: &'static str,
    /// How its programs are linked and run here.
    carrier: Carrier,
}

enum Carrier {
    /// This system runs them.
    None,
    /// A linker for another processor, and an emulator of it.
    Emulator { linker: &'static str, packages: &'static [&'static str], program: &'static [&'static str] },
    /// mingw links them, and Wine runs them.
    Wine,
    /// zig links them, and nothing here runs them.
    Zig,
}

pub const LINUX: System = System { target: "x86_64-unknown-linux-gnu", carrier: Carrier::None };
pub const ARM_LINUX: System = System {
    target: "aarch64-unknown-linux-gnu",
    carrier: Carrier::Emulator {
        linker: "aarch64-linux-gnu-gcc",
        packages: &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"],
        program: &["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    },
};
pub const WINDOWS: System = System { target: "x86_64-pc-windows-gnu", carrier: Carrier::Wine };
pub const MACS: [System; 2] = [
    System { target: "aarch64-apple-darwin", carrier: Carrier::Zig },
    System { target: "x86_64-apple-darwin", carrier: Carrier::Zig },
];

/// The name of an archive without its ending, which is also the folder in it.
pub fn name(version: &str, target: &str) -> String {
    format!("oversleep-{version}-{target}")
}

/// The name of an archive.
pub fn file_name(version: &str, target: &str) -> String {
    let ending = if target.contains("windows") { "zip" } else { "tar.gz" };
    format!("{}.{ending}", name(version, target))
}

/// The files of an archive.
fn contents(papers: &Papers, command: &[u8], target: &str) -> Contents {
    let mut contents = Contents::default();
    if target.contains("windows") {
        contents.add_program("oversleep.exe", command);
    } else {
        contents.add_program("oversleep", command);
        for (name, text) in &papers.manual {
            contents.add(&format!("man/man1/{name}"), text.clone());
        }
    }
    contents.add("completions/oversleep.bash", papers.bash.clone());
    contents.add("completions/_oversleep", papers.zsh.clone());
    contents.add("completions/oversleep.fish", papers.fish.clone());
    contents.add("completions/oversleep.ps1", papers.powershell.clone());
    for (name, text) in &papers.texts {
        contents.add(name, text.clone());
    }
    contents
}

/// Whether the target is this system, on any processor: its linker is there, and it runs its programs.
fn is_own(target: &str) -> bool {
    match std::env::consts::OS {
        "linux" => target.contains("linux") && target.starts_with(std::env::consts::ARCH),
        "macos" => target.contains("darwin"),
        system => target.contains(system),
    }
}

fn build_for(yard: &mut Yard, system: &System) -> Result<PathBuf, Refusal> {
    let target = system.target;
    can_build_for(target, &yard.prerequisites).map_err(Refusal::Missing)?;
    let mut cargo = Command::new("cargo");
    cargo.arg("build");
    let linker = format!("CARGO_TARGET_{}_LINKER", target.to_ascii_uppercase().replace('-', "_"));
    match &system.carrier {
        _ if is_own(target) => {}
        Carrier::None => {}
        Carrier::Emulator { linker: program, packages, .. } => {
            yard.prerequisites.program(program, packages).map_err(Refusal::Missing)?;
            cargo.env(linker, program);
        }
        Carrier::Wine => {
            yard.prerequisites.program(wine::LINKER, &[wine::LINKER_PACKAGE]).map_err(Refusal::Missing)?;
            cargo.env(linker, wine::LINKER);
        }
        Carrier::Zig => {
            let kept = yard.kept("zig")?;
            cargo = Zig::prepare(&kept, &mut yard.prerequisites).map_err(Refusal::Missing)?.cargo_build();
        }
    }
    // Cargo compiles for this system twice if the target is stated once and once not.
    let is_here = target == format!("{}-unknown-linux-gnu", std::env::consts::ARCH) && cfg!(target_env = "gnu");
    let command = yard.compiled(cargo, (!is_here).then_some(target))?;
    // The command for this system writes the manual if that for the other one can't.
    let writes = if is_own(target) { command.clone() } else { yard.command(None)? };
    let papers = Papers::written_by(&writes, yard)?;
    let (epoch_s, version) = (product::epoch_s(&yard.root)?, product::version(&yard.root)?);
    let command = fs::read(&command).map_err(|error| format!("{}: {error}", command.display()))?;
    let contents = contents(&papers, &command, target).below(&name(&version, target));
    let bytes = if target.contains("windows") { contents.zip(epoch_s)? } else { contents.tar_gz(epoch_s)? };
    Ok(product::write(&yard.dist.join(file_name(&version, target)), bytes)?)
}

/// Unpacks an archive as a user would, and uses its command.
fn try_out_for(yard: &mut Yard, system: &System, file: &Path) -> Result<String, Refusal> {
    let (target, version) = (system.target, product::version(&yard.root)?);
    let folder = yard.empty(&format!("archive-{target}"))?;
    let mut unpack = if target.contains("windows") && !cfg!(windows) {
        yard.prerequisites.program("unzip", &["unzip"]).map_err(Refusal::Missing)?;
        let mut unzip = Command::new("unzip");
        unzip.arg("-q").arg(file).arg("-d").arg(&folder);
        unzip
    } else {
        let mut tar = Command::new("tar");
        tar.arg("xf").arg(file).arg("-C").arg(&folder);
        tar
    };
    run(&mut unpack)?;
    let unpacked = folder.join(name(&version, target));
    let command = unpacked.join(if target.contains("windows") { "oversleep.exe" } else { "oversleep" });
    trial::size_at_most(yard, &command, 14_000_000)?;
    let (mut before, mut variables): (Vec<&str>, Vec<(&str, PathBuf)>) = (Vec::new(), Vec::new());
    match &system.carrier {
        _ if is_own(target) => {}
        Carrier::None => {}
        Carrier::Emulator { program, packages, .. } => {
            yard.prerequisites.program(program[0], packages).map_err(Refusal::Missing)?;
            before.extend(*program);
        }
        Carrier::Wine => {
            let kept = yard.kept("wine")?;
            let prefix = wine::prefix(&kept, &mut yard.prerequisites).map_err(Refusal::Missing)?;
            before.push(wine::WINE);
            variables.extend(wine::environment(&prefix).map(|(name, value)| (name, value.to_owned())));
        }
        Carrier::Zig => return is_for_macos(&command, target).map(|()| "built, not run".to_owned()),
    }
    let wait = if target.contains("windows") { trial::ON_WINDOWS } else { trial::ON_UNIX };
    let used = trial::of_command(&version, wait, |line| {
        let command = command.to_string_lossy();
        let mut words = before.iter().copied().chain([command.as_ref()]).chain(line[1..].iter().copied());
        let mut program = Command::new(words.next().unwrap_or_default());
        program.args(words).current_dir(&folder).envs(variables.iter().map(|(name, value)| (name, value)));
        Ok(run_installed(&mut program)?)
    })?;
    Ok(match system.carrier {
        _ if is_own(target) => used,
        Carrier::Wine => format!("under Wine: {used}"),
        Carrier::Emulator { .. } => format!("under qemu-user: {used}"),
        Carrier::None | Carrier::Zig => used,
    })
}

/// Whether a file is a program for macOS on that processor: the first bytes of `<mach-o/loader.h>`, then the processor's
/// number of `<mach/machine.h>`, low byte first.
fn is_for_macos(file: &Path, target: &str) -> Result<(), Refusal> {
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let processor = if target.starts_with("aarch64") { 0x0c } else { 0x07 };
    if bytes.starts_with(&[0xcf, 0xfa, 0xed, 0xfe, processor, 0, 0, 1]) {
        return Ok(());
    }
    Err(Refusal::Failed(format!("{} is not a program for {target}", file.display())))
}

/// A way's functions for one system.
macro_rules! way {
    ($name:ident, $systems:expr) => {
        pub mod $name {
            use super::*;

            pub fn build(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
                $systems.iter().map(|system| build_for(yard, system)).collect()
            }

            pub fn try_out(yard: &mut Yard, files: &[PathBuf]) -> Result<String, Refusal> {
                let seen = $systems.iter().zip(files).map(|(system, file)| try_out_for(yard, system, file));
                Ok(seen.collect::<Result<Vec<_>, _>>()?.join("; "))
            }
        }
    };
}

way!(linux, [LINUX]);
way!(arm_linux, [ARM_LINUX]);
way!(windows, [WINDOWS]);
way!(macos, MACS);

#[cfg(test)]
mod tests {
    use super::*;

    fn papers() -> Papers {
        let text = |name: &str| (name.to_owned(), b"text".to_vec());
        Papers {
            manual: vec![text("oversleep.1"), text("oversleep-why.1")],
            bash: Vec::new(),
            zsh: Vec::new(),
            fish: Vec::new(),
            powershell: Vec::new(),
            service: Vec::new(),
            texts: super::super::product::TEXTS.iter().map(|name| text(name)).collect(),
        }
    }

    #[test]
    fn an_archive_is_named_as_installers_expect_and_has_one_folder_of_that_name() {
        assert_eq!(file_name("1.2.3", LINUX.target), "oversleep-1.2.3-x86_64-unknown-linux-gnu.tar.gz");
        assert_eq!(file_name("1.2.3", WINDOWS.target), "oversleep-1.2.3-x86_64-pc-windows-gnu.zip");
        for system in [LINUX, ARM_LINUX, WINDOWS].iter().chain(&MACS) {
            let (file, folder) = (file_name("1.2.3", system.target), name("1.2.3", system.target));
            assert!(file == format!("{folder}.tar.gz") || file == format!("{folder}.zip"));
            let contents = contents(&papers(), b"program", system.target).below(&folder);
            assert!(contents.paths().all(|path| path.starts_with(&format!("{folder}/"))));
        }
    }

    #[test]
    fn an_archive_has_command_manual_completions_licences_and_readme() {
        let paths = |target| contents(&papers(), b"program", target).paths().map(str::to_owned).collect::<Vec<_>>();
        let linux = paths(LINUX.target);
        assert_eq!(
            linux,
            [
                "CHANGELOG.md",
                "LICENSE-APACHE",
                "LICENSE-MIT",
                "README.md",
                "completions/_oversleep",
                "completions/oversleep.bash",
                "completions/oversleep.fish",
                "completions/oversleep.ps1",
                "man/man1/oversleep-why.1",
                "man/man1/oversleep.1",
                "oversleep",
            ]
        );
        let windows = paths(WINDOWS.target);
        assert!(windows.contains(&"oversleep.exe".to_owned()) && !windows.iter().any(|path| path.starts_with("man/")));
    }

    #[test]
    fn a_program_for_macos_is_known_by_its_first_bytes() {
        let file = std::env::temp_dir().join(format!("oversleep-archive-macho-{}", std::process::id()));
        fs::write(&file, [0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1, 2, 0]).unwrap();
        assert!(is_for_macos(&file, MACS[0].target).is_ok());
        assert!(is_for_macos(&file, MACS[1].target).is_err(), "another processor's");
        fs::remove_file(&file).unwrap();
    }
}
