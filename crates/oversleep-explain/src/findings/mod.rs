//! The findings, by system. An entry is in one file with its documentation, its check and its tests; a new one is an
//! entry in the file of its family, or a new file and its lines in the system's `mod.rs`.

use crate::finding::FindingEntry;

pub mod fleet;
mod general;
mod linux;
mod macos;
pub(crate) mod observed;
mod runtimes;
mod windows;

/// The families of findings of each system, of all systems, of language runtimes, of observed programs, and of fleets.
static SYSTEMS: &[&[&[FindingEntry]]] = &[
    linux::FAMILIES,
    windows::FAMILIES,
    macos::FAMILIES,
    general::FAMILIES,
    runtimes::FAMILIES,
    observed::FAMILIES,
    fleet::FAMILIES,
];

pub use general::coarse_clock::coarse_step;

/// Every finding, in arbitrary order.
pub(crate) fn all() -> impl Iterator<Item = &'static FindingEntry> {
    SYSTEMS.iter().copied().flatten().copied().flatten()
}
