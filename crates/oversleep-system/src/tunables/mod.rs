//! Everything that a measurement may change, described once for each system, in the order in which it is listed.
//!
//! A system's folder adds the change to a description, a model adds the parameter.

mod linux;
mod macos;
mod windows;

use crate::tunable::{Scope, TunableInfo};

pub use self::linux::LINUX;
pub use self::macos::MACOS;
pub use self::windows::WINDOWS;

/// The common fields of most tunables; an entry states what differs.
pub const COMMON: TunableInfo = TunableInfo {
    name: "",
    call: "",
    doc: "",
    expected: "",
    example: "",
    scope: Scope::Thread,
    inherited_by: None,
    sets_resolution: false,
    words: &[],
    compared: &[],
    is_modelled: true,
    since: "",
    page: "",
};

/// The names of tunables that other crates use; one that no system describes doesn't compile.
pub mod names {
    use super::{LINUX, WINDOWS};
    use crate::describe;

    /// The timer slack of Linux.
    pub const SLACK: &str = describe!(LINUX, "slack").name;
    /// The timer resolution of Windows.
    pub const RESOLUTION: &str = describe!(WINDOWS, "resolution").name;
    /// The scheduling policy, on every system.
    pub const POLICY: &str = describe!(LINUX, "policy").name;
    /// The CPUs that a thread may use.
    pub const PIN: &str = describe!(LINUX, "pin").name;
    /// The time slice of a thread beside others.
    pub const SLICE: &str = describe!(LINUX, "slice").name;
    /// Locked memory.
    pub const LOCK_MEMORY: &str = describe!(LINUX, "lock-memory").name;
    /// The bound on the wake-up latency of processors.
    pub const DMA_LATENCY: &str = describe!(LINUX, "dma-latency").name;
}

/// The tunables of a system by its name in results; none if it has no catalogue.
pub fn of(os: &str) -> &'static [TunableInfo] {
    match os {
        "linux" => LINUX,
        "windows" => WINDOWS,
        "macos" => MACOS,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_one_tunable_that_sets_the_resolution() {
        for tunables in [LINUX, WINDOWS, MACOS] {
            assert_eq!(tunables.iter().filter(|info| info.sets_resolution).count(), 1);
        }
    }
}
