//! The supervisor on Linux.
//!
//! Three processes are involved: the one that the user started (`emulated/front.rs`), which is the program's parent and ends
//! as the program does; the program and everything that it starts; and the supervisor (`emulated/supervisor.rs`), which
//! traces those. So stopping the job stops the program and never the supervisor, and if either of the two ends unexpectedly,
//! the kernel kills the program.
//!
//! What happens at a timed wait: a seccomp filter (`filter`) stops the thread. The tracer (`emulated/tracer.rs`) reads its
//! registers and the requested time (`calls`), takes from the plan when the wait ends, and sets three registers that a
//! system call may change anyway. The thread resumes in the injected code (`code`), which waits until that end.
//!
//! The rooms, each of which uses only those above it:
//!
//! | room | owns |
//! |---|---|
//! | `process` | another process as the supervisor reaches it |
//! | `code` | the injected code, and threads in it |
//! | `filter` | which calls stop |
//! | `calls` | what a call requests, and what it returns |
//! | `programs` | what is known of the running programs |
//! | `clocks` | the clocks that programs read |
//! | `sites` | call sites that are patched and need no stop |
//! | `preload` | the way without stops, where nobody may trace |
//! | `trace` | how threads are followed |
//! | `job` | the processes of a job, and how they talk |
//! | `emulated` | waits that end as the emulated machine's do |
//! | `observe` | waits that are reported to `why` and left as they are |
//!
//! What a module's head says once isn't repeated here; four decisions concern several rooms:
//!
//! - A learned lateness has the other machine's wake-up in it. This machine's own is measured before the program starts
//!   (`emulated/calibration.rs`) and taken off (`plan/own.rs`).
//! - The code of patched call sites (`code/rule.s`) is the only second implementation of an expiry rule. It covers rounding,
//!   ticks and one-shot timers (`plan/closed.rs`); a test compares it with `Plan::end` on all machines. One wait in 256
//!   still stops, so that the report has durations.
//! - A runtime's Linux build doesn't wait as its Windows port does. A record of the table of runtimes' calls with `on_linux`
//!   says what the port does where the Linux build makes a call (`plan/adapters`), and `adapters.toml` how a program's
//!   runtime and version are recognised (`plan/recognised.rs`). Where it depends on the caller what a call is (Java's sleeps
//!   and parks end in one function of the C library), the stack decides (`programs/callers.rs`), and such calls always stop.
//!   A resolution that a runtime requests for a wait is held until the wait's planned end (`plan/resolution.rs`). A test
//!   walks all calls, versions and machines (`plan/agreement.rs`).
//! - The kernel counts timeouts of sockets in its own ticks, so calls that receive from such a descriptor or send to it
//!   stop: the process installs one more small filter per descriptor and way (`emulated/socket_filters.rs`). A thread that
//!   receives waits in the injected code (`emulated/receive.rs`); one that sends makes its call, and is interrupted at the
//!   machine's end (`emulated/send.rs`).

mod calls;
mod clocks;
mod code;
mod emulated;
mod filter;
mod job;
mod observe;
mod preload;
mod process;
mod programs;
mod sites;
#[cfg(test)]
mod tests;
mod trace;

pub use emulated::front::run;
pub use job::socket::control;
pub use observe::{Observation, Running};
