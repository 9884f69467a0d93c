//! Waits and clocks of language runtimes. This crate finds the runtimes of a machine, compiles their probes once, runs
//! them as probes of the laboratory, and returns series.
//!
//! `probes/` has a folder per runtime with the probe and a `runtime.toml`, which says how to find the runtime, how to get
//! its version, how to build and run the probe, and how to know a process that runs it. They are embedded when the crate is
//! built; beside the list of these folders (`descriptor`), nothing here names a runtime. `oversleep-explain` interprets the
//! series.
//!
//! Each operation of each runtime is a probe of the laboratory, so its rounds are interleaved with those of
//! all others and with the system's own waits. A round runs a process in its own process group (a job object on Windows),
//! with a time limit for each step and a limit on its output; at the end, everything that it started is killed. On Linux,
//! oversleep is the parent of whatever leaves the group, so this includes daemons. `oversleep-record` (`probe.rs`) reads
//! the records, and `oversleep-explain` (`runtimes/rule/`) infers the rule that a runtime follows from durations alone.
//! Compiled probes are cached per user, by source and toolchain. `cargo test -p oversleep-runtimes -- --ignored` checks
//! every probe whose runtime is installed against the protocol. The recorded streams in which tests find rules come from
//! `cargo run -p oversleep-runtimes --example record`.
//!
//! On a modelled machine no runtime runs. Instead, each call is a wait of the machine: `runtime_calls` of
//! `oversleep-system` has one table (`runtime-calls/*.toml`) of what every call becomes by runtime, version and system,
//! and makes the wait beneath with the request translated, holding what the runtime holds. `ask`, `waits --on`, `runtimes
//! --on` and the adapters of `emulate` read it; nothing else knows a runtime's rule. Programs and models use the same
//! requests (`runtime_waits.rs` of `oversleep-measure`). `cargo test -p oversleep-cli --test platform -- --ignored
//! every_rule` compares the runtimes of this machine with the table of rules.
//!
//! A runtime may be a library on top of another one: each version that its `runtime.toml` lists is looked up in the local
//! Maven repository (`library.rs`), and downloaded only with `--fetch`. Operations that pass items through an engine
//! (`engine.rs`) report windows or arrivals instead of waits; `runtimes/engines.rs` of `oversleep-explain` reads them.
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
