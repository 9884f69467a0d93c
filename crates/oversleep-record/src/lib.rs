//! The data of oversleep: measurements, their conditions, and the findings that follow.
//!
//! Pure data and pure functions on it. Nothing here reads a clock, a file or the operating system, so a result taken on
//! one machine can be read, explained, drawn and compared on any other.
#![forbid(unsafe_code)]

pub mod assertion;
pub mod change;
pub mod clock;
mod command;
pub mod comparison;
pub mod conditions;
pub mod date;
mod depth;
pub mod disturbance;
mod emulation;
pub mod environment;
pub mod experiment;
pub mod fact;
pub mod file;
pub mod finding;
pub mod hdr_log;
pub mod identity;
pub mod idling;
pub mod key;
pub mod label;
#[cfg(feature = "schema")]
mod map_schema;
mod nearest;
pub mod observed;
pub mod part;
pub mod probe;
pub mod processor;
pub mod quantile_interval;
pub mod queue_labels;
pub mod reason;
mod rounds;
mod runtime_name;
pub mod series;
pub mod shared;
pub mod split;
pub mod stats;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trial;
pub mod two_peaks;
pub mod words;

pub use clock::ClockResult;
pub use command::CommandName;
pub use conditions::Conditions;
pub use depth::Depth;
pub use disturbance::Disturbance;
pub use environment::{Environment, Os};
pub use experiment::ExperimentId;
pub use fact::FactName;
pub use file::ResultFile;
pub use finding::Finding;
pub use identity::Identity;
pub use idling::Idling;
pub use key::SeriesKey;
pub use label::Labels;
pub use nearest::{nearest, nearest_from};
pub use observed::{Observation, ObservedWaits};
pub use oversleep_distribution::{Distribution, Nanos, column, distribution, runs, samples, units};
pub use processor::ProcessorState;
pub use reason::Unavailable;
pub use rounds::distinct_rounds;
pub use series::Series;
pub use trial::Trial;
pub use two_peaks::TwoPeaks;

/// Whether a figure is none, for serde.
fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
