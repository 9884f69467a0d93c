//! The shared parts of the comparison programs: alternating pairs and their ratios, bars, the peer and our own command
//! as programs, the machine's description, and the bare loops that the laboratory is compared with.
//!
//! A program measures ours and the peer alternately and judges by the median of the ratios of the pairs, so that drift
//! of the machine affects both. A single figure says nothing here.

pub mod bar;
pub mod contenders;
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

/// The snippets of the pages for those who come from a peer, theirs beside ours.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/from-quanta.md")]
    struct FromQuanta;
    #[doc = include_str!("../../docs/from-spin-sleep.md")]
    struct FromSpinSleep;
    #[doc = include_str!("../../docs/from-std.md")]
    struct FromStd;
}

/// A sentence that says why a program, or a part of it, could not measure.
pub type Reason = String;
