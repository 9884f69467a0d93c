//! A Rust toolchain that can build for another target: rustup's if it has the target's standard library, otherwise
//! Debian's newest, which builds the standard library from its source package.

use std::path::Path;
use std::process::Command;

use xtask_tools::{Prerequisites, can_build_for, quietly};

/// How to call cargo for one target.
pub struct Toolchain {
    target: &'static str,
    from_debian: bool,
}

impl Toolchain {
    /// The toolchain that works here.
    ///
    /// # Errors
    /// Why neither works.
    pub fn for_target(target: &'static str, prerequisites: &mut Prerequisites) -> Result<Toolchain, String> {
        if can_build_for(target, prerequisites).is_ok() {
            return Ok(Toolchain { target, from_debian: false });
        }
        let packages = ["rustc-web", "cargo-web", "rust-web-src"];
        prerequisites
            .file(Path::new("/usr/bin/cargo"), &packages)
            .map_err(|reason| format!("`rustup target add {target}` failed, and {reason}"))?;
        Ok(Toolchain { target, from_debian: true })
    }

    /// `cargo VERB --target …`, in the checkout's root.
    pub fn cargo(&self, verb: &str, root: &Path) -> Command {
        let mut command = if self.from_debian { Command::new("/usr/bin/cargo") } else { Command::new("cargo") };
        command.current_dir(root).args([verb, "--target", self.target]);
        // A test program for Windows has 30 MB with lines and names, and there are a hundred of them.
        command.env("CARGO_PROFILE_DEV_DEBUG", "none").env("CARGO_PROFILE_DEV_STRIP", "debuginfo");
        if self.from_debian {
            // Building the standard library is a nightly feature; the source package fits this compiler.
            command.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1");
            command.env_remove("RUSTUP_TOOLCHAIN").arg("-Zbuild-std=std,panic_unwind,test");
        }
        command
    }

    /// Whether clippy can run: Debian's toolchain has no matching one.
    pub fn has_clippy(&self) -> bool {
        !self.from_debian && quietly(Command::new("cargo").args(["clippy", "--version"]))
    }

    /// Whether it is rustup's.
    pub fn is_rustups(&self) -> bool {
        !self.from_debian
    }

    /// The target triple.
    pub fn target(&self) -> &'static str {
        self.target
    }

    /// The variable that names a target's linker or runner: `CARGO_TARGET_<TRIPLE>_<WHAT>`.
    pub fn variable(&self, what: &str) -> String {
        format!("CARGO_TARGET_{}_{what}", self.target.to_ascii_uppercase().replace('-', "_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_as_cargo_reads_them() {
        let toolchain = Toolchain { target: "x86_64-pc-windows-gnu", from_debian: false };
        assert_eq!(toolchain.variable("RUNNER"), "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER");
    }

    #[test]
    fn debians_toolchain_builds_the_standard_library_itself() {
        let toolchain = Toolchain { target: "aarch64-unknown-linux-gnu", from_debian: true };
        let command = toolchain.cargo("test", Path::new("/"));
        assert_eq!(command.get_program(), "/usr/bin/cargo");
        assert!(command.get_args().any(|arg| arg == "-Zbuild-std=std,panic_unwind,test"));
    }
}
