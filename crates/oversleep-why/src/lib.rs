//! Where the lateness of a program's timed waits went.
//!
//! A collector follows the kernel and delivers events. This crate turns them into waits, splits the lateness of each
//! wait into parts that add up to it exactly, names what ran instead, and gives advice. It only computes, so a stream
//! that was recorded on one machine can be read on any other.
#![forbid(unsafe_code)]

pub mod builder;
pub mod by;
pub mod calls;
pub mod compare;
pub mod culprit;
pub mod etw;
pub mod event;
mod file;
pub mod findings;
pub mod group;
pub mod machine;
pub mod names;
pub mod part;
pub mod recording;
pub mod select;
pub mod session;
pub mod share;
pub mod stack;
pub mod summary;
pub mod text;
pub mod trace;
pub mod wait;

pub use builder::Builder;
pub use event::{Event, Kind};
pub use machine::Machine;
pub use part::{Part, Parts};
pub use summary::Summary;

pub use wait::{Outcome, Wait};
