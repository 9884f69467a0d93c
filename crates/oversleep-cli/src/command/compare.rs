//! `compare`: compares results of machines, kernels, releases or runs with the first of them.

use std::path::PathBuf;

use clap::Args;
use oversleep_report::view::comparison;

use super::results;
use crate::args::{Documents, Read, help};
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

    #[command(flatten)]
    documents: Documents<Read>,
}

impl Compare {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let delivery = results::prepare(&self.files, &self.documents)?;
        let with_pictures = results::needs_pictures(&self.documents);
        results::read(&self.files, "compare a.json -", with_pictures)?.deliver(&delivery, comparison::view)
    }
}
