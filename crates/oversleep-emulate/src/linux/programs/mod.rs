//! What is known of the running programs: what a process executes (`executed`), which processes are treated apart
//! (`processes`), and from within which library a thread makes its call (`callers`).

pub mod callers;
pub mod executed;
pub mod processes;
