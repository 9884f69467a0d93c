//! Where the lateness of a program's timed waits went.
//!
//! A collector follows the kernel and delivers events. This crate turns them into waits, splits the lateness of each
//! wait into parts that add up to it exactly, names what ran instead, and gathers the waits into the series of a result.
//! It only computes, so a stream that was recorded on one machine can be read on any other.
//!
//! It is an instrument: `machine` takes events and returns waits, `group` and `builder` make series of them, `session` does
//! both for a live kernel or a recording, `recording` and `trace` are files of events and of waits. What a result shows, in
//! findings, reports and comparisons, is said elsewhere, and of every result alike.
//!
//! A result of `why` is an ordinary result. Waits of one program, thread, call and request are a series of experiment Y1,
//! whose labels are its identity; slices of the time are its rounds. The series has its split and who delayed its waits
//! (`observed`); the result's `observation` has the worst waits, the losses and what could not be seen. From there on,
//! everything is as for any result: a finding of an observed program (`oversleep-explain/src/findings/observed/`) is an
//! entry of the registry whose check returns one conclusion for each cause or culprit (`Check::Causes`), each named by
//! its `instance`. The verdict (`oversleep-explain/src/verdict/`) is computed from the parts and these findings whenever
//! a result is shown; it is in no file and has no rule of its own about what delays waits. Waits that a language runtime
//! makes for its own purposes (`oversleep-explain/src/housekeeping.rs`) are in no finding and no verdict; the command
//! states the runtime of each process, as `oversleep-runtimes` sees it while it is followed. Results of `oversleep-why/1`
//! become such results as they are read (`oversleep-record/src/file/why_v1.rs`).
//!
//! The state machine (`oversleep-why/src/machine/`) is pure. The parts are differences of adjacent times, so they add up
//! exactly. The end of a call states how many events were sent for it: if one is missing, the time between its neighbours
//! is `unattributed`, and nothing is concluded from its absence. A kernel may also leave out tracepoints without counting
//! them, for example all of those in the time of one task: what it interrupts and the switch away from it are then
//! missing, in ftrace too. The call's return value shows that its timeout expired, and the time is `unattributed`.
#![forbid(unsafe_code)]

mod blame;
pub mod builder;
mod coding;
pub mod culprit;
pub mod etw;
pub mod event;
pub mod group;
pub mod machine;
pub mod names;
mod paced;
pub mod part;
mod periods;
pub mod recording;
pub mod select;
pub mod session;
pub mod stack;
pub mod trace;
pub mod wakes;

pub use builder::Builder;
pub use event::{Event, Kind};
pub use machine::{Machine, Occupied};
pub use oversleep_record::observed::{period, wait};
pub use oversleep_system::calls;
pub use part::{Part, Parts};
pub use wait::{Outcome, Wait};
