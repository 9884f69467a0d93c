//! What the page in the browser can do: a command line as it would be typed, with the files that were dropped instead of
//! a disk. The answers are the command's own, byte for byte.
//!
//! `command` parses and runs a command line, `catalogue` says what the page's controls offer, `boundary` is what the page
//! calls.

mod boundary;
pub mod catalogue;
pub mod command;
