//! Builds a request from the options, with files and this machine; the rest is [`oversleep_request`].

pub mod machine;

pub use oversleep_request::{MeasuringArgs, conditions, experiments, names, refuse_long_requests};
