//! Commands that sample for as long as somebody looks on.

mod keys;
pub(super) mod lacking;
pub(super) mod lines;
pub(super) mod remote;
pub(super) mod reserved;
pub(super) mod running;
mod screen;
mod table;
pub(super) mod threads;
mod view;
pub(super) mod watching;
pub(super) mod who;
pub(super) mod witness;

pub use running::sample;
pub use view::Shown;
