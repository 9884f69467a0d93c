//! Findings and remedies: what a result file says in sentences, how we know, what to do, and what that gained here.
//!
//! Reads records only. No clock is read and no system call made in this room, so that a result taken on one machine is
//! explained the same on any other. `findings` holds the registry of findings, one file per close family, each entry
//! with its documentation and its tests beside it; `remedies` the registry of what can be done; `verdicts` the table of
//! clocks; `split` the parts of each wait's lateness. A figure that can't carry a conclusion ends in "not enough data"
//! or "too disturbed to conclude", never in a sentence that sounds sure.
#![forbid(unsafe_code)]

mod advice;
pub mod compare;
pub mod entry;
pub mod findings;
#[cfg(any(test, feature = "testing"))]
pub mod names;
mod read;
pub mod remedies;
#[cfg(test)]
mod robustness;
pub mod split;
#[cfg(test)]
mod testing;
mod text;
mod trials;
pub mod verdicts;

pub use entry::{Conclusion, FindingEntry, Scope, Statement};
pub use findings::{entry, findings, registry};
pub use remedies::{Harmless, RemedyEntry};
pub use trials::{RemedyTrialSpec, remedies_to_try};
