//! Samples the waits of a machine for as long as it runs, so that what happened can be said afterwards.
//!
//! A burst is some short waits in a row, with a warm processor, and one long wait of random length, the pause. That is
//! measured, too, so nothing is spent on idling, and random lengths can't keep step with a neighbour. [`Sampler`] is pure:
//! it says how long to pause and adds up what bursts report. [`run`] drives it on a platform, real or modelled.
#![forbid(unsafe_code)]

mod burst;
mod clocks;
pub mod exponential;
mod guard;
mod late;
mod machine;
mod recent;
mod run;
mod sampler;
mod series;
mod slices;
mod sums;

pub use burst::{Burst, Ended, Kind, Wait};
pub use late::{Cause, LateWait};
pub use machine::MachineState;
pub use recent::Recent;
pub use run::{Lend, run};
pub use sampler::{Sampler, Sampling, Tally};
pub use slices::Covers;
pub use sums::Sums;
