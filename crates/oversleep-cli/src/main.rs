//! The `oversleep` command: turns a command line into a request to the laboratory, and the result into reports and files.
//!
//! `args` has the shared options, `command` has one file per command, `request` builds the request, `output` delivers
//! results. Results come from the laboratory or from a file; reports are made from a result alone (`oversleep-report`).
#![forbid(unsafe_code)]

mod args;
mod command;
mod exit;
mod interrupt;
mod message;
mod output;
mod progress;
mod reading;
mod request;
mod safe;
mod width;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: oversleep_native::allocator::Allocator = oversleep_native::allocator::Allocator;

fn main() -> ExitCode {
    if let Some(code) = oversleep_native::run_if_neighbour() {
        return code;
    }
    message::report_panics_of_threads_in_a_line();
    interrupt::install();
    oversleep_native::interruption::keep_ended_children();
    oversleep_native::interruption::fail_writes_beyond_the_limit();
    let ended = command::run();
    if let Err(failure) = &ended {
        message::error(&failure.to_string(), failure.next());
    }
    exit::code(&ended)
}
