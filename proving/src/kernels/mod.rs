//! `cargo prove kernels`: boots other kernels and unusual machines in an emulator with exact time, runs the built
//! command there, and compares its report with the machine's known configuration. A machine is an entry of
//! [`table::MACHINES`], of [`why::MACHINES`] if `why` follows a program there, or of [`emulate::MACHINES`]. Without
//! `--all` only the machines that fit into a few minutes run; names limit it.

mod archive;
mod boot;
mod emulate;
mod guest;
mod machine;
mod packages;
mod page;
mod pins;
mod program;
mod run;
mod table;
mod why;

pub use machine::{Kernel, Machine};
pub use pins::KERNELS;
pub use run::command;

/// Every machine of all tables.
pub fn machines() -> impl Iterator<Item = &'static Machine> {
    table::MACHINES.iter().chain(why::MACHINES).chain(emulate::MACHINES)
}
