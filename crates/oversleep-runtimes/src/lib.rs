//! Waits and clocks of language runtimes. This crate finds the runtimes of a machine, compiles their probes once, runs
//! them as probes of the laboratory, and returns series.
//!
//! `probes/` has a folder per runtime with the probe and a `runtime.toml`, which says how to find the runtime, how to get
//! its version, how to build and run the probe, and how to know a process that runs it. Nothing here knows a runtime by
//! name. `oversleep-explain` interprets the series.
#![forbid(unsafe_code)]

mod cache;
mod conversation;
mod descriptor;
mod discover;
mod engine;
mod installation;
mod instrument;
mod launch;
mod library;
mod limits;
mod probe;
mod process;
mod program;
mod rate;
mod selection;
mod session;
mod steps;
mod supervise;
mod surroundings;
mod survey;
mod wanted;

pub use cache::Cache;
pub use conversation::{Conversation, Unfinished};
pub use descriptor::{Descriptor, Op, descriptors};
pub use discover::Given;
pub use installation::{Built, Installation, Missing};
pub use limits::Limits;
pub use probe::{Launch, RuntimeProbe};
pub use process::Process;
pub use program::Program;
pub use steps::rule_steps;
pub use surroundings::Surroundings;
pub use survey::Survey;
pub use wanted::{Wanted, WantedError, is_program};
