//! Where the lateness of a program's timed waits went.
//!
//! A collector follows the kernel and delivers events. This crate turns them into waits, splits the lateness of each
//! wait into parts that add up to it exactly, names what ran instead, and gathers the waits into the series of a result.
//! It only computes, so a stream that was recorded on one machine can be read on any other.
//!
//! It is an instrument: `machine` takes events and returns waits, `group` and `builder` make series of them, `session` does
//! both for a live kernel or a recording, `recording` and `trace` are files of events and of waits. What a result shows, in
//! findings, reports and comparisons, is said elsewhere, and of every result alike.
#![forbid(unsafe_code)]

mod blame;
pub mod builder;
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

pub use builder::Builder;
pub use event::{Event, Kind};
pub use machine::Machine;
pub use oversleep_record::observed::{period, wait};
pub use oversleep_system::calls;
pub use part::{Part, Parts};
pub use wait::{Outcome, Wait};
