//! What a machine of the table consists of.

use super::guest::Guest;
use super::packages::Package;

/// The processor that a kernel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arch {
    X86,
    Arm,
}

/// A kernel: the package that holds it.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// Its name here and in `docs/kernels.md`.
    pub name: &'static str,
    pub arch: Arch,
    pub package: Package,
}

/// A machine, what runs on it, and what must come of it.
pub struct Machine {
    pub name: &'static str,
    /// What it is, for the page.
    pub is: &'static str,
    pub kernel: &'static Kernel,
    pub cpus: u32,
    /// Further parameters of the kernel.
    pub boot: &'static str,
    /// A shell's lines, run as root in the directory whose files come back. `oversleep` is on the path.
    pub script: &'static str,
    /// Whether it runs without `--all`.
    pub is_sampled: bool,
    pub expects: &'static [Expectation],
}

/// One thing that must hold.
pub struct Expectation {
    /// As the page says it.
    pub says: &'static str,
    /// What is there instead, where it doesn't hold.
    pub holds: fn(&Guest) -> Result<(), String>,
}

/// An entry of [`Machine::expects`].
pub const fn expect(says: &'static str, holds: fn(&Guest) -> Result<(), String>) -> Expectation {
    Expectation { says, holds }
}
