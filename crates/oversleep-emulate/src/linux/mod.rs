//! The supervisor on Linux.
//!
//! Three processes are involved: the one that the user started (`front`), which is the program's parent and ends as the
//! program does; the program and everything that it starts; and the supervisor (`supervisor`), which traces those. So
//! stopping the job stops the program and never the supervisor, and if either of the two ends unexpectedly, the kernel kills
//! the program.

mod births;
mod calibration;
mod callers;
mod cancel;
mod clocks;
mod counters;
mod crew;
mod elf;
mod entry;
mod executes;
mod filter;
mod front;
mod functions;
mod ignored;
mod inject;
mod lead;
mod memory_file;
mod notes;
mod observe;
mod padding;
mod preload;
mod preload_file;
mod processes;
mod program_file;
mod program_socket;
mod programs;
mod ptrace;
mod receive;
mod refusal;
mod regions;
mod remaining;
mod rule;
mod seizure;
mod send;
mod sends;
mod shared;
mod sites;
mod socket;
mod socket_filters;
mod start;
mod stops;
mod stub;
mod supervisor;
#[cfg(test)]
mod tests;
mod time_spaces;
mod timeouts;
mod tracer;
mod trampoline;
mod vdso;

pub use front::{end_by, run};
pub use observe::{Observation, Running};
pub use socket::control;
