//! `compare`: compares results of machines, kernels, releases or runs with the first of them.

use std::path::PathBuf;

use clap::Args;
use oversleep_report::view::comparison;

use super::results::{self, Outputs};
use crate::args::help;
use crate::exit::{Exit, Failure};

/// Compare results of machines or releases: what differs, and what is inconclusive?
///
/// The first result is the base. You can compare 2 to 26 results of any machines and systems, including modelled ones. A
/// series differs only if its figures are further apart than the uncertainty of both, with 99 % confidence; otherwise it
/// is inconclusive, with the reason. The plain sleeps of two systems are compared with each other, whatever their names.
/// Results of `oversleep why` are compared by program, thread, call and request: which part of the lateness shrank?
/// Without an output option this prints the comparison; with one, it writes only the documents you name.
#[derive(Args, Debug)]
#[command(before_help = help::COMPARE, after_help = help::CODES)]
pub struct Compare {
    /// Result files, the base first; - is standard input
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print the comparison as one JSON document, or write it to FILE
    ///
    /// The equals sign is required, because FILE would otherwise be read as another result.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Write one self-contained HTML page with the pictures side by side, which works offline; - is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Show every series, including inconclusive ones
    #[arg(long)]
    full: bool,

    /// Print no notes on standard error, only warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

impl Compare {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let outputs =
            Outputs { json: self.json.as_deref(), html: self.html.as_deref(), full: self.full, quiet: self.quiet };
        results::check(&self.files, outputs)?;
        results::read(&self.files, "compare a.json -", outputs.html.is_some())?.deliver(outputs, comparison::view)
    }
}
