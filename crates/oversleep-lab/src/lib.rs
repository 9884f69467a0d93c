//! The laboratory: composes platforms, experiments and explanations.
//!
//! [`Laboratory`] is the entry point. `session` runs experiments, tries remedies and assembles the result; `ask`
//! answers a question about one wait or clock; `assert` judges what has to hold of results;
//! `verify` compares modelled machines with published observations;
//! `resolution` holds a timer resolution, `held` any setting; `records` has the rounding rules of language runtimes;
//! `share` makes a copy of a result for others; `watch` reports changes; `catalogue` lists what a platform has;
//! `findings` says where to look for one; `fleet` judges many machines over weeks; `lookup` finds what a word names;
//! `machines` opens modelled machines. Nothing here calls an operating system: the caller provides the platform.
#![forbid(unsafe_code)]

pub mod ask;
pub mod assert;
pub mod catalogue;
pub mod findings;
pub mod fleet;
pub mod held;
pub mod live;
pub mod lookup;
pub mod machines;
pub mod records;
pub mod reserved;
mod resolution;
mod session;
pub mod share;
pub mod verify;
pub mod watch;

#[cfg(test)]
mod modelled_tests;

pub use resolution::{HeldResolution, ResolutionTunable};
pub use session::{Laboratory, Request, RunError};
