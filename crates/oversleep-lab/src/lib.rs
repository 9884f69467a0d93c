//! The laboratory: measures clocks, waits, threads and wake-ups, and explains what it finds.
//!
//! `platform` is every contact with the operating system, `measure` the experiments, `explain` the findings, `compare`
//! results held against one another. Rooms don't import one another except `measure → platform`; the modules at this
//! level compose them: [`Laboratory`] is the way in, `session` runs experiments, tries remedies and puts the result
//! together, `resolution` holds a timer resolution while a program runs, `catalogue` lists what there is, `machines` holds
//! the modelled machines.
//!
//! A program that calls [`run_if_neighbour`] first thing in its `main` lets experiments start it again as a neighbour.

pub mod catalogue;
pub mod compare;
pub mod explain;
pub mod machines;
pub mod measure;
pub mod platform;
mod resolution;
mod session;

pub use measure::{
    Depth, Experiment, Limit, MEASURING_THREAD, Plan, Progress, Published, Silent, StopFlag, duration_key, experiment,
    of_check, panic_message, registry,
};
pub use platform::interruption;
pub use platform::run_if_asked as run_if_neighbour;
pub use platform::{Ability, EXAMPLES, Examples, Holders, Reached, ResolutionHolders, ResolutionRow};
pub use resolution::{HeldResolution, ResolutionTunable};
pub use session::{Laboratory, Request, RunError};
