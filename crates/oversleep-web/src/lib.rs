//! The engine of the page in the browser: runs a command line, with dropped files instead of a disk. The answers are
//! the command's own, byte for byte.
//!
//! `command` parses and runs a command line, `catalogue` lists the options of the page's controls, `boundary` is the
//! interface for the page.

mod boundary;
pub mod catalogue;
pub mod command;
mod refusal;
