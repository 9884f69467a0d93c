//! The same question in every language: this crate finds the runtimes of a machine, compiles their probes once, runs them as
//! probes of the laboratory, and hands back series.
//!
//! `probes/` has a folder per runtime: a `runtime.toml` that says how to find, ask, build and run it, and the probe itself.
//! Nothing here knows a runtime by name. What the series mean is decided in `oversleep-explain`.
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
pub use probe::{Launch, RuntimeProbe};
pub use program::Program;
pub use steps::rule_steps;
pub use surroundings::Surroundings;
pub use survey::Survey;
pub use wanted::{Wanted, WantedError, is_program};
