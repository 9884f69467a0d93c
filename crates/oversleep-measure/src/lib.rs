//! The experiments: they take a platform and produce series, independently of the operating system behind it.
//!
//! `experiments/` has one file per family, and `registry` lists the experiments. The rest is shared: `bench` (time, and
//! the end of a run), `recorder` (a series being filled), `wait_loop` (the paces), `rounds` (interleaving, conditions,
//! disturbance), `plan` (how much to measure, under which conditions).
//!
//! An experiment consists of probes. A probe is one thing measured in one thread under one set of conditions, in rounds.
//! The rounds of all probes are interleaved, so a passing disturbance touches one round of many series instead of all
//! rounds of one. Each round runs on a fresh thread: guards undo what was changed for it, also while a panic unwinds, and
//! any change ends with the thread at the latest. Progress is reported between rounds. During a round of more than a
//! second it is reported once a second, by the thread that waits for the round, if there is another CPU for that; the
//! thread that measures only notes each value in memory that both share (`live.rs`). Counters are read directly before
//! and after a round; clock rate and temperature, which cost more to read, are read outside of these.
//!
//! Waits about whose microseconds nothing is concluded are measured several at once (`rounds/company.rs`), and a series
//! whose rounds agree ends before its last one (`settled.rs`), so that a check takes ten seconds where nothing disturbs it.
//!
//! A neighbour is another process that holds a setting, for experiments about how one process affects another. On a real
//! machine it is a second instance of this program, so `main` first checks whether it was started as one
//! (`run_if_neighbour`); a program that doesn't check can't start neighbours. A neighbour ends at the end of its standard
//! input, so also when its parent is killed.
//!
//! There are two paces. With absolute deadlines, a deadline that passed while the thread was off the CPU is recorded
//! without a call. Call by call, each wait has its own deadline, for waits whose argument can't express the rest of a
//! period.
//!
//! Timestamps are read from the clock that deadlines are on (`CLOCK_MONOTONIC` on Linux), and every result names it with
//! its cost and step. The library's clock is cheaper unless its reads are ordered (9.5 ns and 26 ns beside 19 ns on a 2.6
//! GHz Xeon guest), and `--clock oversleep` and `--clock oversleep-ordered` use it. But it is steered to the system's
//! clock, not equal to it: half a percent of six million readings were up to 8 ns ahead of the next reading of the
//! system's clock, and after a resume it may be 0.1 ms ahead. It would misjudge a wait that ends exactly on its deadline
//! by that much, so it is not the default. Instead, every run compares it with the measuring clock at its beginning and
//! end, and the result says how closely it agreed (`oversleep-measure/src/witness.rs`).
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
mod settled;
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
