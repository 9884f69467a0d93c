//! `compare`: compares results of machines, kernels, releases or runs with the first of them.

use std::path::PathBuf;

use clap::Args;
use oversleep_report::view::comparison;

use super::results;
use crate::args::{Documents, Read};
use crate::command::spec::{FINE, READ_FAILED, USAGE, examples, exits};
use crate::exit::{Exit, Failure};

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep compare a.json b.json", "how b differs from a"),
    ("oversleep compare a.json b.json --full", "every series, including those with too few values"),
    ("oversleep compare a.json b.json --html c.html", "with the pictures side by side"),
    ("oversleep compare a.json b.json --csv", "a line for each result of each series"),
    ("oversleep compare a.json b.json --md", "for a pull request"),
];

/// Compare results of machines or releases: what differs, and what is inconclusive?
///
/// The first result is the base. You can compare 2 to 26 results of any machines and systems, including modelled ones. A
/// series differs only if its figures are further apart than the uncertainty of both, with 99 % confidence; otherwise it
/// is inconclusive, with the reason. The plain sleeps of two systems are compared with each other, whatever their names.
/// Results of `oversleep why` are compared by program, thread, call and request: which part of the lateness shrank?
/// Without an output option this prints the comparison; with one, it writes only the documents you name.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", &[FINE, READ_FAILED, USAGE, (4, "inconclusive: too few values, or too much disturbance, for any series")]))]
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
