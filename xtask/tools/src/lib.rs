//! What the chores (`cargo xtask`) and the proving ground (`cargo prove`) share: tools that they find or install, targets of
//! the compiler, files that they generate, and the table of calls to operating systems.

pub mod generated;
mod jdk;
pub mod markdown;
pub mod platform;
mod prerequisites;
mod targets;

pub use jdk::{java_home, older_java_home};
pub use prerequisites::{Prerequisites, on_path, quietly};
pub use targets::{can_build_for, target_directory};
