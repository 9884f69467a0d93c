//! The laboratory: composes platforms, experiments and explanations.
//!
//! [`Laboratory`] is the way in. `session` runs experiments, tries remedies and puts the result together; `ask` answers
//! a question about one wait or clock; `verify` compares modelled machines with published observations; `resolution`
//! holds a timer resolution, `held` any setting; `records` has what language runtimes make of a request; `share` makes a
//! result for others; `watch` tells what changes; `catalogue` lists what a platform has; `machines` opens modelled
//! machines. Nothing here calls an operating system: a platform is handed in.
#![forbid(unsafe_code)]

pub mod ask;
pub mod catalogue;
pub mod held;
pub mod machines;
pub mod records;
mod resolution;
mod session;
pub mod share;
pub mod verify;
pub mod watch;

#[cfg(test)]
mod modelled_tests;

pub use resolution::{HeldResolution, ResolutionTunable};
pub use session::{Laboratory, Request, RunError};
