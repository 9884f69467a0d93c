//! The `oversleep` command: it turns what was typed into a request to the laboratory, and the result into reports and files.
//!
//! `args` is what can be typed, `command` has one file per command, `request` is what to measure, `output` is where results
//! go. Results come from the laboratory or from a file; reports are made from a result alone (`oversleep-report`).
#![forbid(unsafe_code)]

mod args;
mod command;
mod exit;
mod interrupt;
mod message;
mod output;
mod progress;
mod request;
mod width;

use std::process::ExitCode;

use crate::exit::Failure;

fn main() -> ExitCode {
    if let Some(code) = oversleep_native::run_if_neighbour() {
        return code;
    }
    let ended = command::Cli::read().run();
    match &ended {
        Ok(_) | Err(Failure::ReaderGone) => {}
        Err(failure) => message::error(&failure.to_string()),
    }
    exit::code(&ended)
}
