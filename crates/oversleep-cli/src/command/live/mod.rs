//! Commands that sample for as long as somebody looks on.

pub(super) mod running;
mod screen;
mod table;

pub use running::{Shown, sample};
