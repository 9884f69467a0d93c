//! The laboratory: measures clocks, waits, threads and wake-ups, and explains what it finds.
//!
//! `platform` is every contact with the operating system, `measure` the experiments, `explain` the findings. Rooms don't
//! import one another except `measure → platform`; the modules at this level compose them: [`Laboratory`] is the way in,
//! `session` runs experiments, tries remedies and puts the result together, `catalogue` lists what there is.

pub mod catalogue;
pub mod explain;
pub mod measure;
pub mod platform;
mod session;

pub use measure::{Depth, Experiment, Limit, Plan, Progress, Published, Silent, StopFlag, experiment, registry};
pub use platform::Ability;
pub use session::{Laboratory, Request, RunError};
