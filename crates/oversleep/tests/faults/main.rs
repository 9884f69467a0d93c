//! The clock on a counter that fails: `cargo test -p oversleep --features fault-injection --test faults`.

#[path = "../child/mod.rs"]
mod child;
mod found;
mod process;
mod threads;
