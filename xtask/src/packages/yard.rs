//! Where packages are built and tried: the command as built, the folder of the files, and one way to run a program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask_tools::{Prerequisites, target_directory};

/// What released commands have besides a development build: archives.
pub const FEATURES: &str = "archive";

/// Why a way has no outcome, or a bad one.
#[derive(Debug)]
pub enum Refusal {
    /// A tool is not available here. Nothing is wrong with the package.
    Missing(String),
    /// The package can't be built, or doesn't work.
    Failed(String),
}

impl From<String> for Refusal {
    fn from(reason: String) -> Refusal {
        Refusal::Failed(reason)
    }
}

/// What all ways share.
pub struct Yard {
    /// The project.
    pub root: PathBuf,
    /// Where the built files go.
    pub dist: PathBuf,
    /// The profile that the command is compiled with.
    pub profile: String,
    /// Finds tools, and installs what may be installed.
    pub prerequisites: Prerequisites,
    /// Its folders are for anything, and are removed at the end.
    scratch: PathBuf,
}

impl Yard {
    pub fn new(root: &Path, dist: PathBuf, profile: String, may_install: bool) -> Result<Yard, String> {
        let scratch = std::env::temp_dir().join(format!("oversleep-packages-{}", std::process::id()));
        for folder in [&dist, &scratch] {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let prerequisites = Prerequisites::new(may_install);
        Ok(Yard { root: root.to_owned(), dist, profile, prerequisites, scratch })
    }

    /// An empty folder that is removed at the end.
    pub fn empty(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.scratch.join(name);
        let made = match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => fs::create_dir_all(&folder),
        };
        made.map(|()| folder.clone()).map_err(|error| format!("{}: {error}", folder.display()))
    }

    /// The command, compiled for a target, or for this system.
    pub fn command(&self, target: Option<&str>) -> Result<PathBuf, Refusal> {
        let mut cargo = Command::new("cargo");
        cargo.arg("build");
        self.compiled(cargo, target)
    }

    /// The command, compiled by `cargo build` as it stands in `cargo`: with a linker of its own, for example.
    pub fn compiled(&self, mut cargo: Command, target: Option<&str>) -> Result<PathBuf, Refusal> {
        let mut built = target_directory(&self.root);
        let flags = cargo.get_envs().find(|(name, _)| *name == "RUSTFLAGS").and_then(|(_, flags)| flags?.to_str());
        let flags = format!("{} {}", flags.unwrap_or_default(), self.same_paths());
        cargo.current_dir(&self.root).args(["--quiet", "--locked", "--package", "oversleep-cli"]);
        cargo.args(["--features", FEATURES]);
        cargo.args(["--profile", &self.profile]);
        if !flags.trim().is_empty() {
            cargo.env("RUSTFLAGS", flags.trim());
        }
        if let Some(target) = target {
            cargo.args(["--target", target]);
            built.push(target);
        }
        run(&mut cargo)?;
        let is_windows = target.map_or(cfg!(windows), |target| target.contains("windows"));
        // The folder of the profile `dev` has another name, but nobody packs it.
        Ok(built.join(&self.profile).join(if is_windows { "oversleep.exe" } else { "oversleep" }))
    }

    /// Whether these files are for publication: only then do their sizes and bytes matter.
    pub fn is_for_publication(&self) -> bool {
        self.profile == "dist"
    }

    /// Flags of the compiler with which two folders give the same program: a panic names its file, and that name is the
    /// same wherever the project, Cargo's downloads and its output are. Other profiles have none, so that what Cargo has
    /// compiled before is used again.
    pub fn same_paths(&self) -> String {
        if !self.is_for_publication() {
            return std::env::var("RUSTFLAGS").unwrap_or_default();
        }
        let home = std::env::var_os("HOME").unwrap_or_default();
        let cargo_home = std::env::var_os("CARGO_HOME").map_or_else(|| Path::new(&home).join(".cargo"), PathBuf::from);
        // The last one that fits is taken: the output is usually inside of the project.
        [(&cargo_home, "/cargo"), (&self.root, "/oversleep"), (&target_directory(&self.root), "/target")]
            .map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()))
            .join(" ")
    }

    /// A folder that later runs find again.
    pub fn kept(&self, name: &str) -> Result<PathBuf, String> {
        let folder = target_directory(&self.root).join("packages").join(name);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder)
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.scratch);
    }
}

/// What a program writes to standard output.
///
/// # Errors
/// It can't be started, or ends with another code than 0: the last lines of what it says.
pub fn run(command: &mut Command) -> Result<String, String> {
    run_to(command, &[0])
}

/// The same for the installed command, which ends with 4 if the machine is too disturbed to conclude. That is no defect.
///
/// # Errors
/// Those of [`run`], but for that code.
pub fn run_installed(command: &mut Command) -> Result<String, String> {
    run_to(command, &[0, 4])
}

fn run_to(command: &mut Command, fine: &[i32]) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("can't run {name}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code().is_some_and(|code| fine.contains(&code)) {
        return Ok(text);
    }
    let said = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = said.lines().collect();
    Err(format!("{name} {}: {}", output.status, lines[lines.len().saturating_sub(20)..].join("\n")))
}

/// The names of files, each with its size; of many files, the number and the size of all.
pub fn sizes(files: &[PathBuf]) -> Result<String, String> {
    let size = |file: &PathBuf| {
        let bytes = fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?.len();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, bytes as f64 / 1e6))
    };
    let sizes = files.iter().map(size).collect::<Result<Vec<(String, f64)>, String>>()?;
    if sizes.len() > 6 {
        return Ok(format!("{} files, {:.1} MB", sizes.len(), sizes.iter().map(|(_, size_mb)| size_mb).sum::<f64>()));
    }
    Ok(sizes.iter().map(|(name, size_mb)| format!("{name} {size_mb:.1} MB")).collect::<Vec<String>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_says_why() {
        assert_eq!(run(Command::new("cargo").arg("--version")).unwrap().split(' ').next(), Some("cargo"));
        let refused = run(Command::new("cargo").arg("--no-such-option")).unwrap_err();
        assert!(refused.contains("--no-such-option"), "{refused}");
        let ends = |code: &str| run_installed(Command::new("sh").args(["-c", &format!("echo text; exit {code}")]));
        assert_eq!((ends("4").as_deref(), ends("3").is_err()), (Ok("text\n"), true));
        assert!(run(&mut Command::new("no-such-program")).unwrap_err().starts_with("can't run no-such-program"));
    }
}
