//! What the chores (`cargo xtask`) and the proving ground (`cargo prove`) share: tools that they find or install, targets of
//! the compiler, files that they generate, and the table of calls to operating systems.

pub mod generated;
mod jdk;
mod limited;
pub mod markdown;
pub mod platform;
mod prerequisites;
mod targets;
pub mod wine;
mod zig;

pub use jdk::{java_home, older_java_home};
pub use limited::{run_limited, tail};
pub use prerequisites::{Prerequisites, on_path, quietly};
pub use targets::{can_build_for, target_directory};
pub use zig::Zig;
