//! The entries of the table of machines.

use super::guest::Guest;
use super::packages::Package;

/// The architecture of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arch {
    X86,
    Arm,
}

/// A kernel, with its package.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// Its name here and in `docs/kernels.md`.
    pub name: &'static str,
    pub arch: Arch,
    pub package: Package,
}

/// A machine, its commands, and the expectations.
pub struct Machine {
    pub name: &'static str,
    /// Its description for the page.
    pub is: &'static str,
    pub kernel: &'static Kernel,
    pub cpus: u32,
    /// Additional kernel parameters.
    pub boot: &'static str,
    /// A shell script, run as root in the directory whose files are brought back. `oversleep` is in the search path.
    pub script: &'static str,
    /// Whether it runs without `--all`.
    pub is_sampled: bool,
    pub expects: &'static [Expectation],
}

/// One expectation.
pub struct Expectation {
    /// Its text on the page.
    pub says: &'static str,
    /// Returns the deviation if it isn't met.
    pub holds: fn(&Guest) -> Result<(), String>,
}

/// An entry of [`Machine::expects`].
pub const fn expect(says: &'static str, holds: fn(&Guest) -> Result<(), String>) -> Expectation {
    Expectation { says, holds }
}
