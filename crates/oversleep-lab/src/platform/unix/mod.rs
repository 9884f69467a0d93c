//! What every Unix has alike.

pub mod app;
pub mod interruption;
