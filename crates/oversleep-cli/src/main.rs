//! The `oversleep` command: what was typed becomes a request to the laboratory, and its result text, pages and files.
//!
//! `args` is what can be typed, `command` one file per command, `request` what is meant, `output` where results go;
//! `view` is what a report shows, `terminal` and `html` how, `picture` the drawings. Results come from the laboratory or
//! from a file, and everything shown is made from a result alone.
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
