//! `report`: a result file shown again. Findings are worked out again, so an old result gains from what this version knows.

use std::path::{Path, PathBuf};

use clap::Args;
use oversleep_explain as explain;
use oversleep_record::ResultFile;

use crate::args::{OutputArgs, help};
use crate::exit::{Exit, Failure};
use crate::output::Delivery;
use crate::reading;

/// Show result files again: on the terminal, as a page, or as pictures
///
/// It reads results of any machine and system. Without an output option it prints the report; with one, it writes only the
/// documents you name.
#[derive(Args, Debug)]
#[command(before_help = help::REPORT, after_help = help::CODES)]
pub struct Report {
    /// Result files; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print the result as one JSON document with the findings of this version, or write it to FILE
    ///
    /// The equals sign is required, because FILE would otherwise be read as another result.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Write one self-contained HTML page, which works offline; - is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write each picture as an SVG file into a directory, which is created if needed
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,

    /// Show every table, all evidence and code
    #[arg(long)]
    full: bool,

    /// Print no notes on standard error, only warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

impl Report {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let named = [("--json", &self.json), ("--html", &self.html), ("--svg", &self.svg)];
        if let Some((option, _)) = named.iter().find(|(_, path)| path.is_some()).filter(|_| self.files.len() > 1) {
            return Err(Failure::usage(format!("{option} takes one result; run `oversleep report` once for each")));
        }
        let output = OutputArgs {
            json: self.json.clone(),
            html: self.html.clone(),
            svg: self.svg.clone(),
            full: self.full,
            quiet: self.quiet,
            ..OutputArgs::default()
        };
        let delivery = Delivery::only_named(&output, &self.files)?;
        // One result at a time is in memory. One that can't be used is no reason not to show the others.
        let mut unusable = Vec::new();
        for path in &self.files {
            match read(path) {
                Ok(result) => delivery.deliver(&result)?,
                Err(Failure::Failed(error)) => unusable.push(error),
                Err(error) => return Err(error),
            }
        }
        if unusable.is_empty() { Ok(Exit::Fine) } else { Err(Failure::failed(unusable.join("; "))) }
    }
}

/// Reads a result and works out its findings.
fn read(path: &Path) -> Result<ResultFile, Failure> {
    let mut result = reading::read(path, "report -")?;
    result.findings = explain::findings(&result);
    Ok(result)
}
