//! The engine of the page in the browser: runs a command line, with dropped files instead of a disk. The answers are
//! the command's own, byte for byte.
//!
//! `command` parses and runs a command line, `catalogue` lists the options of the page's controls, `boundary` is the
//! interface for the page.
//!
//! `oversleep page` writes one HTML file that loads nothing. Its engine is `oversleep-web` compiled for WebAssembly: it
//! takes a command line, with dropped files instead of a disk, and returns the documents that the command would write,
//! byte for byte. The page (`crates/oversleep-web/page/`) uses no framework; `script/` has one file per part, which the
//! build joins. It runs the engine in a worker, creates a new instance for each request, and shows reports in frames that
//! run no script.

mod boundary;
pub mod catalogue;
pub mod command;
mod refusal;
