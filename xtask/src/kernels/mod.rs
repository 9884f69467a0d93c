//! `cargo xtask kernels`: boots other kernels, and machines that are hard to come by, in an emulator in which time is exact,
//! runs the built command there, and compares what it says with what was done to the machine. A machine is an entry of
//! [`table::MACHINES`], or of [`why::MACHINES`] where `why` follows a program. Without `--all` those run that fit into a few
//! minutes; names limit it.

mod archive;
mod boot;
mod guest;
mod machine;
mod packages;
mod pins;
mod program;
mod run;
mod table;
mod why;

pub use machine::{Kernel, Machine};
pub use pins::KERNELS;
pub use run::command;

/// Every machine of both tables.
pub fn machines() -> impl Iterator<Item = &'static Machine> {
    table::MACHINES.iter().chain(why::MACHINES)
}
