//! The supervisor on Linux.
//!
//! Three processes are involved: the one that the user started (`front`), which is the program's parent and ends as the
//! program does; the program and everything that it starts; and the supervisor (`supervisor`), which traces those. So
//! stopping the job stops the program and never the supervisor, and if either of the two ends unexpectedly, the kernel kills
//! the program.
//!
//! - A seccomp filter (`filter/`) stops a thread at a timed wait. The tracer (`tracer.rs`) reads its registers and the
//!   requested time (`entry.rs`), asks the plan when the wait ends, and sets three registers that a system call may
//!   change anyway.
//! - The thread resumes in the injected code (`trampoline.rs`), which is mapped into every program at one address before
//!   its first instruction (`inject.rs`). It keeps its state on the thread's stack, so neither the tracer nor the
//!   program's memory holds any state of a wait, and there is no second stop at its end.
//! - A learned lateness has the other machine's wake-up in it. This machine's own is measured before the program starts
//!   (`calibration.rs`) and taken off (`plan/own.rs`).
//! - A call site that waits often is patched and needs no stop at all (`sites.rs`). The two bytes of its system call
//!   become a jump into padding that is never executed (`padding.rs`), which jumps to a nearby stub (`regions.rs`) and on
//!   to code that does the supervisor's work (`sites.s`). That code is the only second implementation of an expiry rule
//!   (`rule.s`). It covers rounding, ticks and one-shot timers (`plan/closed.rs`); a test compares it with `Plan::end` on
//!   all machines. One wait in 256 still stops, so that the report has durations, and all waits are counted on a page
//!   shared with the programs (`counters.rs`).
//! - Clocks are functions in the same code (`clocks.s`). The symbols of the program's vDSO are redirected to them
//!   (`clocks.rs`, `vdso.rs`); each program has a table of steps, rewritten when the resolution changes. `plan/clocks.rs`
//!   maps each Linux clock to one of the modelled machine.
//! - A runtime's Linux build doesn't wait as its Windows port does. A record of the table of runtimes' calls with
//!   `on_linux` says what the port does where the Linux build makes a call (`plan/adapters.rs`), and `adapters.toml` how
//!   a program's runtime and version are recognised (`plan/recognised.rs`). `programs.rs` reads what that needs at exec.
//!   Where it depends on the caller what a call is (Java's sleeps and parks end in one function of the C library), the
//!   stack tells (`callers.rs`), and such calls always stop. A resolution that a runtime requests for a wait is held
//!   until the wait's planned end (`plan/resolution.rs`). A test walks all calls, versions and machines
//!   (`plan/agreement.rs`).
//! - To find the thread that stopped, the kernel searches all threads of a tracer, so each tracer has at most 64 and
//!   hands new ones over to another (`crew.rs`), which takes them by a call that a signal can end (`seizure.rs`). The
//!   tracers of `emulate` and of `why` share two rules: a new thread runs once the thread that started it has said so
//!   (`births.rs`), and every thread that stopped has its turn (`stops.rs`).
//! - Unwinding can't begin in the injected code, so glibc's signal for cancelling a thread reaches it in the program's
//!   own (`cancel.rs`).
//! - A program in a time namespace of its own gets its ends on its own clocks (`time_spaces.rs`). Calls that a signal
//!   ended which the program ignores are made again (`ignored.rs`). NOPs are padding only if no function begins there
//!   (`functions.rs`).
//! - A 32-bit program is refused at exec (`executes.rs`). The supervisor has none of the program's streams, so the front
//!   process prints what the user is told at once (`notes.rs`). Timed waits of other call tables stop only to be named
//!   (`filter/other_abis.rs`).
//! - The kernel counts timeouts of sockets in its own ticks, so calls that receive from such a descriptor or send to it
//!   stop: the process installs one more small filter per descriptor and way (`socket_filters.rs`,
//!   `filter/descriptor.rs`), by a call that the supervisor makes its thread make (`inject.rs`). At each stop the kernel
//!   is asked for the timeout (`program_socket.rs`), since others may have changed it. A thread that receives waits in
//!   the injected code (`receive.rs`); one that sends makes its call, and is interrupted at the machine's end
//!   (`send.rs`).
//! - If nobody may trace, functions of the C library take the place of the stops (`preload.rs`, `preload.s`): a shared
//!   library (`elf.rs`) of the same code as the places that wait often, loaded by LD_PRELOAD, from a folder that nobody
//!   else may write (`preload_file.rs`).

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
