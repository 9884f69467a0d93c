//! From what was typed to what to measure: options and their values are parsed, names are looked up, settings are checked
//! against the machine, and everything is put into one request to the laboratory. Nothing is measured or changed here,
//! and no file is read: the command and the page in the browser both start from it.
#![forbid(unsafe_code)]

pub mod args;
pub mod conditions;
pub mod experiments;
pub mod machine;
mod measuring;
pub mod names;
mod refusal;
pub mod replies;

pub use measuring::MeasuringArgs;
pub use refusal::Refusal;
