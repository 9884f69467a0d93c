//! What the chores (`cargo xtask`) and the proving ground (`cargo prove`), which is a workspace of its own, share: tools
//! that they find or install, targets of the compiler, and files that they generate. It depends on the standard library
//! alone, because both workspaces compile it.

pub mod generated;
pub mod markdown;
mod prerequisites;
mod targets;

pub use prerequisites::{Prerequisites, on_path, quietly};
pub use targets::{can_build_for, target_directory};
