//! What a system call means: which wait it requests (`entry`), which value it returns where its wait was changed
//! (`remaining`), when it is made again (`ignored`), and what is known of the sockets whose timeouts it waits for
//! (`timeouts`, `program_socket`, `sends`).
//!
//! A wait is added in `entry`, after `filter/calls.rs` has its number, and in `ignored` if the kernel doesn't make it again
//! after an ignored signal; CONTRIBUTING names the rest. No module here asks the plan.

pub mod entry;
pub mod ignored;
pub mod program_socket;
pub mod remaining;
pub mod sends;
pub mod timeouts;
