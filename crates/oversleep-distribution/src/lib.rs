//! The values of a measurement: nanoseconds, columns of samples, runs of equal ones, and distributions. They are apart from
//! the documents that hold them (`oversleep-record`, which re-exports them) because every measured value passes through
//! here: this crate is optimised even in tests, and the documents, whose code is ten times as long, are not.
#![forbid(unsafe_code)]

pub mod column;
pub mod distribution;
pub mod runs;
pub mod samples;
pub mod units;

pub use distribution::{Beyond, Distribution};
pub use units::Nanos;
