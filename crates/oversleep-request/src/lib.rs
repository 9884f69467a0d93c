//! Turns a command line into a request to the laboratory: parses options and values, looks up names, and validates
//! settings for the machine. Nothing is measured or changed here, and no file is read: both the command and the page in
//! the browser use it.
#![forbid(unsafe_code)]

pub mod args;
pub mod assertions;
pub mod conditions;
pub mod experiments;
pub mod machine;
mod measuring;
pub mod names;
mod refusal;
pub mod replies;

pub use measuring::{MeasuringArgs, refuse_long_requests};
pub use refusal::Refusal;
