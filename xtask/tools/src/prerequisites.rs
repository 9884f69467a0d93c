//! Finds what a cross check needs besides a Rust toolchain, and installs it if allowed; otherwise says why it is missing.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Finds and installs.
pub struct Prerequisites {
    may_install: bool,
    lists_updated: bool,
}

impl Prerequisites {
    /// Installs nothing unless allowed.
    pub fn new(may_install: bool) -> Prerequisites {
        Prerequisites { may_install, lists_updated: false }
    }

    /// Makes sure that a program is installed, from Debian packages if it is missing.
    ///
    /// # Errors
    /// What is missing, and why it could not be installed.
    pub fn program(&mut self, program: &str, packages: &[&str]) -> Result<(), String> {
        if on_path(program).is_some() {
            return Ok(());
        }
        self.debian(packages).map_err(|reason| format!("{program} is not installed: {reason}"))?;
        on_path(program).map(|_| ()).ok_or_else(|| format!("{} did not install {program}", packages.join(" ")))
    }

    /// Makes sure that a file exists, in the same way.
    ///
    /// # Errors
    /// What is missing, and why it could not be installed.
    pub fn file(&mut self, file: &Path, packages: &[&str]) -> Result<(), String> {
        if file.exists() {
            return Ok(());
        }
        self.debian(packages).map_err(|reason| format!("{} does not exist: {reason}", file.display()))?;
        if file.exists() { Ok(()) } else { Err(format!("{} did not install {}", packages.join(" "), file.display())) }
    }

    /// Installs Debian packages.
    ///
    /// # Errors
    /// Why that failed.
    pub fn install(&mut self, packages: &[&str]) -> Result<(), String> {
        self.debian(packages)
    }

    fn debian(&mut self, packages: &[&str]) -> Result<(), String> {
        if !self.may_install {
            return Err(format!("install {}", packages.join(" ")));
        }
        if on_path("apt-get").is_none() {
            return Err(format!("this is not Debian; install {} yourself", packages.join(" ")));
        }
        if !is_root() {
            return Err(format!("run as root, or install {}", packages.join(" ")));
        }
        if !self.lists_updated {
            quietly(Command::new("apt-get").args(["-q", "update"]));
            self.lists_updated = true;
        }
        let mut install = Command::new("apt-get");
        // Another one may be installing just now.
        install
            .args(["-q", "-o", "DPkg::Lock::Timeout=300", "install", "-y", "--no-install-recommends"])
            .args(packages);
        if quietly(install.env("DEBIAN_FRONTEND", "noninteractive")) {
            println!("installed {}", packages.join(" "));
            return Ok(());
        }
        Err(format!("apt-get could not install {}", packages.join(" ")))
    }

    /// Whether anything may be installed.
    pub fn may_install(&self) -> bool {
        self.may_install
    }
}

/// Runs a command without its output; whether it succeeded.
pub fn quietly(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The path of a program.
pub fn on_path(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(program)).find(|file| file.is_file())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exists_needs_no_installing_and_what_is_missing_names_its_package() {
        let mut none = Prerequisites::new(false);
        assert_eq!(none.program("sh", &["dash"]), Ok(()));
        assert_eq!(none.file(Path::new("/"), &["base-files"]), Ok(()));
        let missing = none.program("no-such-program", &["such-a-package"]);
        assert_eq!(missing, Err("no-such-program is not installed: install such-a-package".to_owned()));
    }
}
