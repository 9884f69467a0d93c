//! What the comparison programs share: alternated pairs and their ratios, bars, the peer and our own command as
//! programs, the machine's description, and the bare loops the laboratory is held against.
//!
//! A program measures ours and the peer alternately and judges by the median of the ratios pair by pair, so that what
//! drifts on the machine meets both. A figure alone says nothing here.

pub mod bar;
pub mod cyclictest;
pub mod date;
pub mod lab;
pub mod line;
pub mod machine;
pub mod options;
pub mod ours;
pub mod pairs;
pub mod program;
pub mod report;
pub mod sys;

pub use bar::Bar;
pub use options::Options;
pub use pairs::Pairs;
pub use report::Report;

/// Why a program, or a part of it, could not measure: a sentence.
pub type Reason = String;
