//! Where results go: standard output, files that are replaced as a whole, and a safe place when neither works. Places
//! are tried before anything is measured, and what was measured is kept whatever happens to them.

mod delivery;
pub mod file;
pub mod pages;
pub mod stdout;
pub mod unfinished;

pub use delivery::Delivery;
