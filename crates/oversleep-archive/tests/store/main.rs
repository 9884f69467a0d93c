//! Archives on disk: what is added comes back, once, whatever ends in between, and damaged files are errors.

mod bombs;
mod golden;
mod hostile;
mod kills;
mod roundtrip;
mod sql;
mod support;
mod windows;
