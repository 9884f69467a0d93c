//! An archive of a fleet's results.
//!
//! Each series of a result is one [`Row`]: the machine it was measured on, what was measured, and every value as a list of
//! buckets. Lists of buckets merge by addition, so a quantile over a million rows is as exact as one over a single series.
#![forbid(unsafe_code)]

pub mod column;
mod digits;
mod fleet;
mod merge;
pub mod query;
pub mod row;
#[cfg(any(test, feature = "testing"))]
pub mod simulated;
#[cfg(feature = "archive")]
pub mod sql;
#[cfg(feature = "archive")]
pub mod store;
pub mod views;

pub use column::Column;
pub use digits::Digits;
pub use fleet::FleetOfRows;
pub use merge::Merged;
pub use query::{Answer, Filter, Gathering, Query, QueryError};
pub use row::{Machine, Origin, Row, rows_of};
