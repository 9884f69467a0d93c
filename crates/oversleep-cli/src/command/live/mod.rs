//! Commands that sample for as long as somebody looks on.

pub(super) mod lines;
pub(super) mod running;
mod screen;
mod table;
pub(super) mod threads;

pub use running::{Shown, sample};
