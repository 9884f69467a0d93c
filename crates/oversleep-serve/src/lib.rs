//! What a sampler knows, for monitoring.
//!
//! [`metrics`] is what there is to tell; [`text`], [`protobuf`] and [`otlp`] write it; [`server`] answers requests, which
//! [`request`] reads and [`routes`] lists; [`push`] sends it, and [`client`] reads what another
//! machine serves. Nothing here tells a host's name, a path, a process or a
//! command line: labels have values from closed lists, and facts of the machine that may be shared.
#![forbid(unsafe_code)]

pub mod client;
pub mod metrics;
pub mod otlp;
pub mod protobuf;
pub mod push;
pub mod request;
pub mod routes;
pub mod server;
pub mod text;
