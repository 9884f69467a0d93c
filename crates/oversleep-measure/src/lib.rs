//! The experiments: they take a platform and produce series, independently of the operating system behind it.
//!
//! `experiments/` has one file per family, and `registry` lists the experiments. The rest is shared: `bench` (time, and
//! the end of a run), `recorder` (a series being filled), `wait_loop` (the paces), `rounds` (interleaving, conditions,
//! disturbance), `plan` (how much to measure, under which conditions).
#![forbid(unsafe_code)]

mod amount;
mod bench;
mod clock_scale;
mod composed_waits;
mod elapsed_probe;
mod experiment;
mod experiments;
mod floor;
mod library_waits;
mod live;
mod looks;
mod pauses;
mod plan;
mod probe;
mod recorder;
mod registry;
mod rounds;
pub mod runtime_waits;
mod still;
mod stop;
mod wait_loop;
mod wait_probe;
mod witness;

#[cfg(test)]
mod soak_tests;
#[cfg(test)]
mod standing_clock_tests;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod ticking;

pub use amount::Amount;
pub use bench::Bench;
pub use composed_waits::{all_waits, find_wait, named_waits};
pub use experiment::{Column, Command, Experiment};
pub use experiments::{
    CUSTOM_STRATEGY, FORK_JOIN_THREADS, IDLE_STRATEGIES, ITEM_WORK, IdleStrategy, POLL_PAUSE, QUEUE_ITEMS, READS_MIN,
    coarse_clock,
};
pub use floor::floor;
pub use library_waits::{beneath_library, library_waits};
pub use live::RunningFigures;
pub use looks::{Looks, Observed, SLEEP};
pub use plan::{Depth, IdlePlan, Limit, Plan, RuntimePlan, WorkSpan};
pub use probe::{Measured, Probe};
pub use recorder::SeriesRecorder;
pub use registry::{experiment, experiment_named, of_check, registry};
pub use rounds::{MEASURING_THREAD, Progress, Silent, Step, measure, panic_message};
pub use stop::StopFlag;
pub use wait_probe::WaitProbe;
pub use witness::Watch;
